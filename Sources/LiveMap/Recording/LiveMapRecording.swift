import IndoorVocabulary
import TextFormats
import VenueModel

/// The content of a live map that doesn't change: a played recording, or a radio map.
///
/// `LiveMapRecorder` creates the content of a recording.
package struct LiveMapRecording: LiveMapContent {
    /// The kind of the content.
    package let mode: LiveMapOverview.Mode
    /// The name of the recording or of the radio map.
    package let title: String
    private let venues: LiveMapVenues
    private let allFrames: [LiveMapFrame]
    private let allEvents: [LiveMapEvent]
    private let map: LiveMapRadioMap?

    /// Creates content.
    ///
    /// - Parameters:
    ///   - mode: the kind of the content.
    ///   - title: the name of the recording or of the radio map.
    ///   - venues: the venues.
    ///   - plans: the source of the plan images; nil for none.
    ///   - frames: the frames, in any order.
    ///   - events: the events, in any order.
    ///   - radioMap: the radio map; nil for none.
    package init(
        mode: LiveMapOverview.Mode = .recording, title: String, venues: [Venue], plans: (any LiveMapPlans)? = nil,
        frames: [LiveMapFrame] = [], events: [LiveMapEvent] = [], radioMap: LiveMapRadioMap? = nil
    ) {
        self.mode = mode
        self.title = title
        self.venues = LiveMapVenues(list: venues, plans: plans)
        allFrames = frames.sorted { ($0.t, $0.id) < ($1.t, $1.id) }
        allEvents = events.sorted { ($0.t, $0.id) < ($1.t, $1.id) }
        map = radioMap
    }

    package func overview() async -> LiveMapOverview {
        LiveMapOverview(
            mode: mode, title: title, start: allFrames.first?.t, end: allFrames.last?.t, acceptsMarks: false,
            venues: await venues.descriptions())
    }

    package func plan(venue: Int, map: Int) async -> LiveMapImage? { await venues.plan(venue: venue, map: map) }

    package func tile(venue: Int, map: Int, level: Int, column: Int, row: Int) async -> LiveMapImage? {
        await venues.tile(venue: venue, map: map, level: level, column: column, row: row)
    }

    package func frames(from start: Double, to end: Double, limit: Int) async -> [LiveMapFrame] {
        let first = allFrames.firstIndex(sortedFrom: start)
        return Array(allFrames[first...].prefix { $0.t <= end }.prefix(max(0, limit)))
    }

    package func events() async -> [LiveMapEvent] { allEvents }

    package func radioMap() async -> LiveMapRadioMap? { map }

    /// Returns a stream that ends immediately, because the content doesn't change.
    package func updates(after id: Int?) async -> AsyncStream<LiveMapUpdate> { AsyncStream { $0.finish() } }

    package func mark(_ place: LiveMapFrame.Place) async -> String? {
        "Marks are stored in a running session only, not in a \(mode == .radioMap ? "radio map" : "recording")."
    }
}

extension [LiveMapFrame] {
    /// Returns the index of the first frame at or after an instant, by binary search.
    func firstIndex(sortedFrom start: Double) -> Int {
        indices.bisection { !(self[$0].t < start) }
    }
}

extension LiveMapContent {
    /// Returns all content in one value, for a page that needs no server.
    ///
    /// The document has the plan images and no tiles. Its size is that of the images, plus about 6 KB for each frame
    /// with 300 particles.
    package func document() async -> LiveMapDocument {
        var overview = await overview()
        var plans: [LiveMapDocument.Plan] = []
        for (venueIndex, venue) in overview.venues.enumerated() {
            for (mapIndex, map) in venue.maps.enumerated() {
                let image = map.hasImage ? await plan(venue: venue.id, map: map.id) : nil
                overview.venues[venueIndex].maps[mapIndex].tiles = nil
                overview.venues[venueIndex].maps[mapIndex].hasImage = image != nil
                guard let image else { continue }
                let url = "data:\(image.mediaType);base64,\(Base64Text.text(of: image.bytes))"
                plans.append(LiveMapDocument.Plan(venueId: venue.id, mapId: map.id, url: url))
            }
        }
        let frames = await frames(from: -.infinity, to: .infinity, limit: .max)
        return LiveMapDocument(
            overview: overview, plans: plans, frames: frames, events: await events(), radioMap: await radioMap())
    }
}
