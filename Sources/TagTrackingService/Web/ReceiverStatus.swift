import IndoorVocabulary
import TagTracking
import VenueModel

/// A receiver with its health, for the page and the interface.
package struct ReceiverStatus: Hashable, Sendable {
    /// The receiver's name in the venue.
    package var id: String
    package var mapID: MapID
    package var point: MapPoint
    /// The health; nil before the first report.
    package var health: ReceiverEvent.Health?
    /// The reason for the health in words; nil before the first report.
    package var text: String?
    /// The time of the last change of the health, counted from the Unix epoch.
    package var instant: Instant?

    /// The time of the latest message; nil before any, or if the server doesn't know.
    package var lastMessage: Instant?

    /// Creates the status of a receiver without a report.
    package init(_ receiver: VenueReceiver) {
        (id, mapID, point) = (receiver.id, receiver.mapID, receiver.point)
    }
}
