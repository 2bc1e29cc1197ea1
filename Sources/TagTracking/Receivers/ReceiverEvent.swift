import IndoorVocabulary

/// A change of a receiver's health.
public struct ReceiverEvent: Hashable, Sendable {
    /// The health of a receiver.
    public enum Health: String, Hashable, Sendable, CaseIterable {
        /// The receiver works.
        case healthy
        /// The receiver sends no messages.
        case silent
        /// The receiver sends messages, but doesn't receive tags that its neighbours receive.
        case deaf
        /// The RSSI of the receiver contradicts its place.
        case moved
        /// The clock of the receiver runs wrong.
        case clockWrong
        /// The receiver measures many decibels more or less than the others. Positions take the difference into
        /// account.
        case miscalibrated
    }

    /// The receiver's name in the venue.
    public var receiver: String
    /// The time of the change.
    public var instant: Instant
    /// The new health.
    public var health: Health
    /// The reason in words, with figures.
    public var text: String

    /// Creates an event.
    package init(receiver: String, instant: Instant, health: Health, text: String) {
        self.receiver = receiver
        self.instant = instant
        self.health = health
        self.text = text
    }
}
