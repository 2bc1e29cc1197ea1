import IndoorVocabulary
import TagTracking

/// A source of what receivers hear: the tags of a receiver, and the receivers of a tag.
package protocol HearingSource: Sendable {
    /// Returns the receivers that have heard a tag, the one with the largest mean RSSI first.
    func hearings(of tag: TagKey) async -> [HearingTable.Hearing]
    /// Returns the tags that a receiver has heard, the one with the largest mean RSSI first; nil for an unknown receiver.
    func hearings(by receiver: String) async -> [HearingTable.Hearing]?
    /// Returns the time of the latest reading of each of some tags that was heard.
    func lastReadings(of tags: [TagKey]) async -> [TagKey: Instant]
}
