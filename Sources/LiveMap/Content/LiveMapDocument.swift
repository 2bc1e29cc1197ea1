/// All content of a live map, for a page that needs no server. The property names are the names in JSON.
public struct LiveMapDocument: Codable, Hashable, Sendable {
    /// The image of a map.
    public struct Plan: Codable, Hashable, Sendable {
        /// The identifier of the venue.
        public var venueId: Int
        /// The identifier of the map.
        public var mapId: Int
        /// The image as a `data:` URL.
        public var url: String

        /// Creates the image of a map.
        public init(venueId: Int, mapId: Int, url: String) {
            self.venueId = venueId
            self.mapId = mapId
            self.url = url
        }
    }

    /// The venues and the kind of the session.
    public var overview: LiveMapOverview
    /// The images of the maps that have one.
    public var plans: [Plan]
    /// All frames, the oldest first.
    public var frames: [LiveMapFrame]
    /// All events, the oldest first.
    public var events: [LiveMapEvent]
    /// The radio map; nil without one.
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
