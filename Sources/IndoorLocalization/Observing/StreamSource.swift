/// An object with streams of what it tells, each call of which gives a stream of its own.
public protocol StreamSource: AnyObject, Sendable {}

extension StreamSource {
    /// Calls `body` with each element of a stream, for callers without a task of their own.
    ///
    ///     let observation = localizer.watch(\.positions) { print($0) }
    ///
    /// - Returns: the observation, which must be kept for as long as calls are wanted.
    public nonisolated func watch<Element: Sendable>(
        _ stream: KeyPath<Self, AsyncStream<Element>>, _ body: @escaping @Sendable (Element) -> Void
    ) -> Subscription {
        Subscription(self[keyPath: stream], body)
    }
}

/// What tells where the device is: a `Localizer` or a `FloorPlanLocalizer`.
public protocol PositionSource: StreamSource {
    /// What it is doing.
    associatedtype State: Sendable

    /// Its states, the present one first.
    var states: AsyncStream<State> { get }
    /// Positions from now on.
    var positions: AsyncStream<Position> { get }
    /// Rooms and fences entered and left, from now on.
    var events: AsyncStream<LocalizationEvent> { get }
    /// Errors from now on, also those that it survives.
    var errors: AsyncStream<LocalizationError> { get }
}

extension Localizer: PositionSource {}
extension FloorPlanLocalizer: PositionSource {}
extension BeaconScanner: StreamSource {}
