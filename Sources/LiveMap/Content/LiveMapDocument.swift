/// All content of a live map, for a page that needs no server. The property names are the names in JSON.
public struct LiveMapDocument: Codable, Hashable, Sendable {
    /// The image of a map.
    public struct Plan: Codable, Hashable, Sendable {
        public var venueId: Int
        public var mapId: Int
        /// A `data:` URL.
        public var url: String
    }

    public var overview: LiveMapOverview
    public var plans: [Plan]
    public var frames: [LiveMapFrame]
    public var events: [LiveMapEvent]
    public var radioMap: LiveMapRadioMap?
}
