import IndoorVocabulary
import VenueModel

/// Something that a localizer or a positioner tells, for callers who want calls.
///
///     let subscription = localizer.on(.roomsEntered) { room in print("in", room.name) }
///     …
///     subscription.close()
///
/// Each topic is one of the source's streams, or a part of it: calls come in its order, from a task of their own.
public struct Topic<Source: Sendable, Element: Sendable>: Sendable {
    private let begin: @Sendable (Source, @escaping @Sendable (Element) -> Void) -> Subscription

    /// Creates a topic of the elements of a stream of which something can be told.
    ///
    /// - Parameter part: what is told of an element; nil to tell nothing.
    init<Whole: Sendable>(
        _ stream: @escaping @Sendable (Source) -> AsyncStream<Whole>,
        _ part: @escaping @Sendable (Whole) -> Element?
    ) {
        begin = { source, body in
            Subscription(stream(source)) { whole in
                if let element = part(whole) { body(element) }
            }
        }
    }

    /// Creates a topic of all elements of a stream.
    init(_ stream: @escaping @Sendable (Source) -> AsyncStream<Element>) {
        begin = { source, body in Subscription(stream(source), body) }
    }

    func observe(_ source: Source, _ body: @escaping @Sendable (Element) -> Void) -> Subscription {
        begin(source, body)
    }
}

extension StreamSource {
    /// Calls `body` with each element of a topic from now on.
    ///
    /// - Returns: the subscription, which must be kept for as long as calls are wanted; `close()` ends it.
    public nonisolated func on<Element: Sendable>(
        _ topic: Topic<Self, Element>, _ body: @escaping @Sendable (Element) -> Void
    ) -> Subscription {
        topic.observe(self, body)
    }
}

extension LocalizationEvent {
    /// The room that was entered; nil if something else happened.
    var enteredRoom: Room? { isEntry ? room : nil }
    /// The room that was left; nil if something else happened.
    var leftRoom: Room? { isEntry ? nil : room }
    /// The fence that was entered; nil if something else happened.
    var enteredFence: Fence? { isEntry ? fence : nil }
    /// The fence that was left; nil if something else happened.
    var leftFence: Fence? { isEntry ? nil : fence }
    /// The geofence that was entered; nil if something else happened.
    var enteredGeofence: Geofence? { isEntry ? geofence : nil }
    /// The geofence that was left; nil if something else happened.
    var leftGeofence: Geofence? { isEntry ? nil : geofence }
}

extension Topic where Source: PositionSource, Element == Source.State {
    /// What the source is doing, the present state first.
    public static var states: Self { Topic { $0.states } }
}

extension Topic where Source: PositionSource, Element == Position {
    /// Where the device is.
    public static var positions: Self { Topic { $0.positions } }
}

extension Topic where Source: PositionSource, Element == LocalizationEvent {
    /// Rooms and fences entered and left.
    public static var events: Self { Topic { $0.events } }
}

extension Topic where Source: PositionSource, Element == LocalizationError {
    /// Errors, also those that the source survives.
    public static var errors: Self { Topic { $0.errors } }
}

extension Topic where Source: PositionSource, Element == Room {
    /// Rooms that the device came into.
    public static var roomsEntered: Self { Topic({ $0.events }, \.enteredRoom) }
    /// Rooms that the device went out of.
    public static var roomsLeft: Self { Topic({ $0.events }, \.leftRoom) }
}

extension Topic where Source: PositionSource, Element == Fence {
    /// Fences that the device came into.
    public static var fencesEntered: Self { Topic({ $0.events }, \.enteredFence) }
    /// Fences that the device went out of.
    public static var fencesLeft: Self { Topic({ $0.events }, \.leftFence) }
}

extension Topic where Source: PositionSource, Element == Geofence {
    /// Geofences of the application that the device came into.
    public static var geofencesEntered: Self { Topic({ $0.events }, \.enteredGeofence) }
    /// Geofences of the application that the device went out of.
    public static var geofencesLeft: Self { Topic({ $0.events }, \.leftGeofence) }
}

extension Topic where Source == Localizer, Element == ServiceStatus {
    /// Whether positions can be expected, the present status first.
    public static var serviceStatuses: Self { Topic { $0.serviceStatuses } }
}

extension Topic where Source == Localizer, Element == VenueEvaluation {
    /// States with what has told the venue, the present one first.
    public static var evaluations: Self { Topic { $0.evaluations } }
}

extension Topic where Source == Localizer, Element == InteractionEvent {
    /// What the venue has to say where the device comes near to a beacon or a place, or goes away.
    public static var interactions: Self { Topic { $0.interactions } }
}

extension Topic where Source == Localizer, Element == OutdoorPosition {
    /// Where the device is in no venue.
    public static var outdoorPositions: Self { Topic { $0.outdoorPositions } }
}

extension Topic where Source == Localizer, Element == Venue {
    /// Venues that were found by their coordinate.
    public static var downloadedVenues: Self { Topic { $0.downloadedVenues } }
}
