import IndoorPositioning
import IndoorVocabulary
import LocalizationSession
import VenueModel

/// A part of a program that lives beside a localizer: it is told what happens, and may steer what it is told of.
///
///     actor StepCounter: LocalizationPlugin {
///         func initialize(host: PluginHost, arguments: Void) async throws -> Bool {
///             await host.subscribe(self, to: .positions)
///             return true
///         }
///         func receive(position: Position) { … }
///     }
///
/// A `PluginHost` calls it; it is called about what it has subscribed to and nothing else. Write what you need: all
/// receivers do nothing by default, and `stop()` agrees. An actor is the natural form, as calls then never overlap at a
/// point where the plugin does not wait itself. Hold the host weakly: it holds its plugins.
///
/// What a plugin throws, and how long it takes, is nobody else's matter: see `PluginHost`.
public protocol LocalizationPlugin: AnyObject, Sendable {
    /// What `PluginHost.add(_:arguments:)` is to hand over; `Void` for nothing.
    associatedtype Arguments: Sendable = Void

    /// Begins: subscribes to streams, requests settings. Nothing is received before it has returned.
    ///
    /// The host's services may not run yet, and it is the program that starts them: what needs the other devices waits to
    /// be told `connected` on `networkData`. One that takes longer than the host's time limit is cancelled and dropped.
    /// - Returns: whether the plugin can work; if false, `stop()` is called once, and the plugin is dropped.
    /// - Throws: what made it impossible; then the plugin is dropped without a call of `stop()`.
    func initialize(host: PluginHost, arguments: Arguments) async throws -> Bool

    /// Ends: gives back all that `initialize` took.
    ///
    /// One that takes longer than the host's time limit is cancelled, and the plugin is dropped.
    /// - Returns: false if the plugin cannot end now; then it goes on as before.
    /// - Throws: what went wrong; then the plugin goes on, too.
    func stop() async throws -> Bool

    /// Takes in where this device is.
    func receive(position: Position) async throws
    /// Takes in how this device moves, also where no venue is known.
    func receive(motion: MotionEstimate) async throws
    /// Takes in where another device is.
    func receive(networkPosition: SharedPosition) async throws
    /// Takes in what else happened among the devices.
    func receive(networkData: SharingEvent) async throws
    /// Takes in what a plugin told, perhaps this one.
    func receive(pluginData: PluginData) async throws
    /// Takes in an error of the session.
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
