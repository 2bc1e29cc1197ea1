import IndoorPositioning
import IndoorVocabulary
import VenueModel

/// What a person carries on a walk of a survey.
package enum SurveyCarrier: Hashable, Sendable {
    /// A tag of a fleet, by the text of its key.
    case tag(String)
    /// This device, which has one walk at a time.
    case device

    /// The text of the tag's key; nil for this device.
    package var tag: String? { if case .tag(let key) = self { key } else { nil } }
}

/// A reading for a walk.
package struct SurveyReading: Hashable, Sendable {
    /// What was carried.
    package var carrier: SurveyCarrier
    /// The sighting of a beacon, or of the receiver that heard a tag, at an instant on the clock of the surveys.
    package var sighting: Sighting

    /// Creates a reading.
    package init(of carrier: SurveyCarrier, _ sighting: Sighting) {
        (self.carrier, self.sighting) = (carrier, sighting)
    }
}

/// What a survey improves: a fleet whose tags people carry, or the session that locates this device.
package protocol SurveyedSystem: Sendable {
    /// Locates a carrier on a recorded walk, and returns its positions in order of time.
    typealias Locating = @Sendable (SurveyRecording) -> [Position]

    /// The venue at the start of the process.
    var venue: Venue { get }
    /// Whether people carry tags instead of this device.
    var hasTags: Bool { get }

    /// Returns what a request names by the text of a tag, or by no text; nil for what a person can't carry.
    func carrier(named tag: String?) -> SurveyCarrier?
    /// Returns whether anything was heard of a carrier, so that a walk with it would have readings.
    func hears(_ carrier: SurveyCarrier) async -> Bool
    /// Selects the carriers whose readings the system passes to the desk.
    func report(readingsOf carriers: Set<SurveyCarrier>) async
    /// Returns what locates carriers in any venue, with the settings of this moment. Its use takes long.
    func locating() async -> @Sendable (Venue) -> Locating
    /// Uses another edition of the venue.
    ///
    /// - Parameter priority: the priority of a thread for what takes long.
    /// - Throws: `SurveyedSystemError` if the edition isn't used.
    func use(_ venue: Venue, preparedAt priority: BackgroundThread.Priority) async throws(SurveyedSystemError)
}

/// The reason why a system doesn't use an edition of its venue, in words for the page.
package struct SurveyedSystemError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String

    /// Creates an error.
    package init(_ description: String) { self.description = description }
}
