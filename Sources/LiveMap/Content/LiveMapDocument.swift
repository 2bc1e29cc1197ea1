/// All content of a live map, for a page that needs no server. The property names are the names in JSON.
public struct LiveMapDocument: Codable, Hashable, Sendable {
    /// The image of a map.
    public struct Plan: Codable, Hashable, Sendable {
        public var venueId: Int
        public var mapId: Int
        /// A `data:` URL.
        public var url: String

        /// Creates the image of a map.
        public init(venueId: Int, mapId: Int, url: String) {
            self.venueId = venueId
            self.mapId = mapId
            self.url = url
        }
    }

    public var overview: LiveMapOverview
    public var plans: [Plan]
    public var frames: [LiveMapFrame]
    public var events: [LiveMapEvent]
    public var radioMap: LiveMapRadioMap?

    /// Creates a document.
    public init(
        overview: LiveMapOverview, plans: [Plan] = [], frames: [LiveMapFrame] = [], events: [LiveMapEvent] = [],
        radioMap: LiveMapRadioMap? = nil
    ) {
        self.overview = overview
        self.plans = plans
        self.frames = frames
        self.events = events
        self.radioMap = radioMap
    }
}
