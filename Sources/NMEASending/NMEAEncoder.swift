import IndoorVocabulary
import LocalizationSession
import VenueModel

/// An encoder of a session's outputs as NMEA 0183, the protocol of satellite receivers.
///
///     var encoder = NMEAEncoder()
///     for await output in localizer.outputs {
///         sender.send(encoder.sentences(for: output.content, at: UnixTime(milliseconds: now)))
///     }
///
/// Each position is a cycle of GGA, GSA, GST and RMC. A position in a venue has the quality 6 (estimated), and an
/// outdoor position the quality 1. HDOP is the 68 % radius divided by 19 m, and GST contains the standard deviations.
/// When the session loses the venue or ends, one cycle reports that there is no position. A position on a map without a
/// georeference has no coordinate, and therefore no sentences.
public struct NMEAEncoder: Sendable {
    /// The number of positions that were left out, because their maps have no georeference.
    public private(set) var omitted = 0

    private var transforms: [MapID: GeoTransform] = [:]
    /// Whether the latest sentences have a position.
    private var hasFix = false

    /// Creates an encoder.
    public init() {}

    /// Returns the sentences for an output of the session; empty for outputs without a position.
    ///
    /// - Parameters:
    ///   - content: the output. The encoder needs all states of the session, because they contain the venue.
    ///   - time: the wall-clock time of the output.
    public mutating func sentences(for content: SessionOutput.Content, at time: UnixTime) -> [NMEASentence] {
        switch content {
        case .position(let position):
            guard let transform = transforms[position.mapID], let fix = NMEAFix(position, transform) else {
                omitted += 1
                return end(at: time)
            }
            hasFix = true
            return NMEACycle(at: time).sentences(of: fix)
        case .outdoorPosition(let position):
            guard let fix = NMEAFix(position) else { return [] }
            hasFix = true
            return NMEACycle(at: time).sentences(of: fix)
        case .state(let state):
            observe(state)
            return endsPositions(state) ? end(at: time) : []
        case .motion, .event, .interaction, .downloadedVenue, .error, .diagnosis: return []
        }
    }

    /// Returns the sentences that report the end of the positions; empty if they were returned before.
    public mutating func end(at time: UnixTime) -> [NMEASentence] {
        guard hasFix else { return [] }
        hasFix = false
        return NMEACycle(at: time).withoutFix
    }

    private mutating func observe(_ state: LocalizationState) {
        let venue: Venue
        switch state {
        case .findFloor(let found): venue = found
        case .localizationRunning(let running): venue = running.venue
        case .idle, .started, .searchVenue, .getPacket, .error: return
        }
        transforms = [:]
        for map in venue.maps { transforms[map.id] = try? map.geoTransform() }
    }

    /// Whether the device has left the venue, or the session has ended.
    private func endsPositions(_ state: LocalizationState) -> Bool {
        switch state {
        case .idle, .error, .started, .searchVenue: true
        case .getPacket, .findFloor, .localizationRunning: false
        }
    }
}
