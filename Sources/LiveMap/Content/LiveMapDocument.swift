/// All content of a live map, for a page that needs no server. The property names are the names in JSON.
package struct LiveMapDocument: Codable, Hashable, Sendable {
    /// The image of a map.
    package struct Plan: Codable, Hashable, Sendable {
        /// The identifier of the venue.
        package var venueId: Int
        /// The identifier of the map.
        package var mapId: Int
        /// The image as a `data:` URL.
        package var url: String

        /// Creates the image of a map.
        package init(venueId: Int, mapId: Int, url: String) {
            self.venueId = venueId
            self.mapId = mapId
            self.url = url
        }
    }

    /// The venues and the kind of the session.
    package var overview: LiveMapOverview
    /// The images of the maps that have one.
    package var plans: [Plan]
    /// All frames, the oldest first.
    package var frames: [LiveMapFrame]
    /// All events, the oldest first.
    package var events: [LiveMapEvent]
    /// The radio map; nil without one.
    package var radioMap: LiveMapRadioMap?

    /// Creates a document.
    package init(
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
