import BeaconScanning
import VenueModel

/// A machine that a `SessionShell` drives: the events that every session has, and the work that a shell does for it.
package protocol SessionMachine: TimedMachine {
    /// The event of a reading that arrived.
    ///
    /// - Parameter delay: the time since the reading was sensed, relative to the quickest delivery of the session.
    static func delivered(_ reading: DecodedReading, delay: Duration) -> Event
    /// The event of the end of a sender.
    ///
    /// - Parameter error: the reason; nil if the sender has nothing more to deliver.
    static func ended(_ sender: SessionTimeline.Sender, _ error: (any Error)?) -> Event
    /// The event of an answer to a request.
    static func answered(_ answer: VenueAnswer) -> Event
    /// The event of an update that the venue source emitted by itself.
    static func updated(_ update: VenueUpdate) -> Event

    /// The work that a directive asks for; nil if the directive is an output of the session.
    func work(for directive: Directive) -> SessionWork<Event>?
}
