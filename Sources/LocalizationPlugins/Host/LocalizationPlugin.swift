import IndoorPositioning
import IndoorVocabulary
import LocalizationSession
import VenueModel

/// A part of a program that receives the events of a localizer, and can control its session.
///
///     actor StepCounter: LocalizationPlugin {
///         func initialize(host: PluginHost, arguments: Void) async throws -> Bool {
///             await host.subscribe(self, to: .positions)
///             return true
///         }
///         func receive(position: Position) { … }
///     }
///
/// A `PluginHost` calls the plugin for the streams that the plugin has subscribed to. Implement the methods that you
/// need: by default, all receivers do nothing, and `stop()` returns true. An actor is the natural implementation,
/// because its calls overlap only where the plugin itself awaits. Store the host as a weak reference, because it owns
/// its plugins.
///
/// Errors and delays of a plugin don't affect other plugins; see `PluginHost`.
public protocol LocalizationPlugin: AnyObject, Sendable {
    /// The arguments that `PluginHost.add(_:arguments:)` passes to the plugin; `Void` for none.
    associatedtype Arguments: Sendable = Void

    /// Starts the plugin, which subscribes to streams and requests settings. The host delivers nothing before this
    /// method returns.
    ///
    /// The host's services may not run yet, because the program starts them. Work that needs the other devices must
    /// wait for `connected` on `networkData`. If the call takes longer than the host's time limit, the host cancels it
    /// and drops the plugin.
    /// - Returns: whether the plugin can work; if false, the host calls `stop()` once and drops the plugin.
    /// - Throws: the reason why the plugin can't work; then the host drops the plugin without a call of `stop()`.
    func initialize(host: PluginHost, arguments: Arguments) async throws -> Bool

    /// Stops the plugin, which releases everything that `initialize` acquired.
    ///
    /// If the call takes longer than the host's time limit, the host cancels it and drops the plugin.
    /// - Returns: false if the plugin can't stop now; then it continues as before.
    /// - Throws: the reason why the plugin can't stop; then it also continues as before.
    func stop() async throws -> Bool

    /// Receives a position of this device.
    func receive(position: Position) async throws
    /// Receives a motion estimate of this device, in a venue or outside.
    func receive(motion: MotionEstimate) async throws
    /// Receives the position of another device.
    func receive(networkPosition: SharedPosition) async throws
    /// Receives another event of position sharing.
    func receive(networkData: SharingEvent) async throws
    /// Receives data that a plugin has broadcast, possibly this one.
    func receive(pluginData: PluginData) async throws
    /// Receives an error of the session.
    func receive(error: LocalizationError) async throws
}

extension LocalizationPlugin {
    public func stop() async throws -> Bool { true }
    public func receive(position: Position) async throws {}
    public func receive(motion: MotionEstimate) async throws {}
    public func receive(networkPosition: SharedPosition) async throws {}
    public func receive(networkData: SharingEvent) async throws {}
    public func receive(pluginData: PluginData) async throws {}
    public func receive(error: LocalizationError) async throws {}
}
