/// The content of a live map: a running session, a played recording, or a radio map.
package protocol LiveMapContent: Sendable {
    /// Returns the venues and the kind of the session.
    func overview() async -> LiveMapOverview
    /// Returns the image of a map; nil without one.
    func plan(venue: Int, map: Int) async -> LiveMapImage?
    /// Returns a tile of a map's Deep Zoom image; nil without one.
    func tile(venue: Int, map: Int, level: Int, column: Int, row: Int) async -> LiveMapImage?
    /// Returns the frames of an interval of the session in seconds, the oldest first, at most `limit`.
    func frames(from start: Double, to end: Double, limit: Int) async -> [LiveMapFrame]
    /// Returns all events, the oldest first.
    func events() async -> [LiveMapEvent]
    /// Returns the radio map; nil without one.
    func radioMap() async -> LiveMapRadioMap?
    /// Returns a stream of new frames and events.
    ///
    /// - Parameter id: the number of the last frame or event that the reader has; the stream begins with the stored
    ///   ones after it. Nil begins with the latest frame.
    func updates(after id: Int?) async -> AsyncStream<LiveMapUpdate>
    /// Stores a mark of the ground truth. Returns a sentence with the reason if the content accepts none.
    func mark(_ place: LiveMapFrame.Place) async -> String?
}

/// An image file.
public struct LiveMapImage: Hashable, Sendable {
    /// The content of the file.
    public var bytes: [UInt8]
    /// The media type, such as `image/png`.
    public var mediaType: String

    /// Creates an image.
    public init(bytes: [UInt8], mediaType: String) {
        self.bytes = bytes
        self.mediaType = mediaType
    }
}

/// A new frame or event of a session.
package enum LiveMapUpdate: Hashable, Sendable {
    /// A new frame.
    case frame(LiveMapFrame)
    /// A new event.
    case event(LiveMapEvent)
    /// The venues have changed; the reader requests them again.
    case overview(id: Int)
}

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
