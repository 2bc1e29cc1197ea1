import BeaconScanning
import IndoorVocabulary
import VenueModel

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
