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

/// A plugin that receives each position with its venue, instead of the position alone.
///
/// When a plugin receives a position, the session may have ended, or be in another venue.
package protocol VenuePositionReceiver: AnyObject, Sendable {
    /// Receives a position of this device, and the venue that it is in, if known.
    func receive(position: Position, in venue: Venue?) async throws
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

/// A set of streams that a plugin can subscribe to. There are six streams.
///
///     await host.subscribe(self, to: [.positions, .errors])
///     await host.subscribe(self, to: .all ^ .pluginData)   // all but one
///
/// The values are those of NavisensCore's streams, so that stored masks remain valid.
public struct PluginStreams: OptionSet, Hashable, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The positions of this device.
    public static let positions = PluginStreams(rawValue: 1)
    /// The positions of the other devices in its sharing rooms.
    public static let networkPositions = PluginStreams(rawValue: 2)
    /// The other events of position sharing: texts, connections, and the numbers of devices.
    public static let networkData = PluginStreams(rawValue: 4)
    /// The data that plugins broadcast.
    public static let pluginData = PluginStreams(rawValue: 8)
    /// The errors of the session, including those after which it continues.
    public static let errors = PluginStreams(rawValue: 16)

    /// The motion estimates of this device, in a venue or outside.
    ///
    /// NavisensCore has no such stream, because its stream 1 contains both; subscribe to this one in addition. It has
    /// ten elements a second (``DeadReckoningSettings/interval``).
    public static let motion = PluginStreams(rawValue: 32)

    /// No stream.
    public static let nothing: PluginStreams = []
    /// All streams except `motion`: the five of NavisensCore, with the value of its constant ALL.
    public static let all = PluginStreams(rawValue: 31)
    /// All streams, including `motion`.
    public static let every: PluginStreams = [.all, .motion]

    /// Returns the streams that are in either set.
    public static func | (left: PluginStreams, right: PluginStreams) -> PluginStreams { left.union(right) }

    /// Returns the streams that are in only one of the sets: `.all ^ .pluginData` is all but the data of plugins.
    public static func ^ (left: PluginStreams, right: PluginStreams) -> PluginStreams {
        left.symmetricDifference(right)
    }
}

/// The number of a plugin at its host, in the order of addition, from 1 on. The host never reuses a number.
public struct PluginID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
    public var description: String { String(rawValue) }
    public static func < (left: PluginID, right: PluginID) -> Bool { left.rawValue < right.rawValue }
}

/// Data that a plugin broadcasts to the others.
public struct PluginData: Sendable {
    /// The operation on the data. Values below 1 are reserved for `PluginHandshake`.
    public struct Operation: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }
        public init(integerLiteral value: Int) { rawValue = value }

        /// A new plugin asks which other plugins there are.
        public static let initialize = Operation(rawValue: 0)
        /// A plugin answers the new one.
        public static let acknowledge = Operation(rawValue: -1)
        /// A plugin is about to stop.
        public static let stop = Operation(rawValue: -2)
    }

    /// The tag by which receivers recognize their data; begin it with the name of the project.
    public var tag: String
    /// The operation on the data.
    public var operation: Operation
    /// The plugin that sent the data; nil if the program did.
    public var sender: PluginID?
    /// The content; see `value(as:)`.
    public var payload: (any Sendable)?

    /// Creates data.
    public init(
        tag: String, operation: Operation = 1, sender: PluginID? = nil, payload: (any Sendable)? = nil
    ) {
        self.tag = tag
        self.operation = operation
        self.sender = sender
        self.payload = payload
    }

    /// Returns the payload if it has a type; nil otherwise.
    public func value<Value: Sendable>(as type: Value.Type = Value.self) -> Value? { payload as? Value }
}

/// A place at which a plugin sets the device: its map, its position and its heading, as far as known.
public struct PluginPlacement: Hashable, Sendable {
    /// The map; nil for the one that the device is on.
    public var mapID: MapID?
    /// The position on that map; nil if only the heading is known.
    public var place: FixPlace?
    /// The heading of the device, in degrees clockwise from the plan's top; nil keeps the current one.
    public var heading: Double?
    /// The 68 % radius in metres, above 0.
    public var radius: Double

    /// Creates a placement.
    public init(mapID: MapID? = nil, place: FixPlace? = nil, heading: Double? = nil, radius: Double = 1) {
        self.mapID = mapID
        self.place = place
        self.heading = heading
        self.radius = radius
    }
}

/// The reason why a placement has no effect.
public enum PluginPlacementError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The placement has no map, and the map that the device is on is unknown.
    case noMap
    /// The place is in pixels or is a coordinate, and no venue is known yet to convert it.
    case noVenue(FixPlace)
    /// The venue that the device is in has no such map.
    case unknownMap(MapID, venue: VenueID)
    /// The place is invalid.
    case fix(FixError)

    public var description: String {
        switch self {
        case .noMap: "the map that the device is on is unknown; give the placement a map"
        case .noVenue(let place): "\(place) has no position on a map before a venue is known; give metres"
        case .unknownMap(let map, let venue): "venue \(venue) has no map \(map); give one of its maps"
        case .fix(let error): "\(error)"
        }
    }
}

extension PluginPlacement {
    /// Returns the fix at this place; nil if the placement has no place.
    ///
    /// - Parameter state: the state of the session, with the venue and the map.
    package func fix(in state: LocalizationState) throws(PluginPlacementError) -> Fix? {
        guard let place else { return nil }
        guard let mapID = mapID ?? state.mapID else { throw .noMap }
        var map: VenueMap?
        if let venue = state.venue {
            guard let found = venue.map(mapID) else { throw .unknownMap(mapID, venue: venue.id) }
            map = found
        } else {
            guard case .point = place else { throw .noVenue(place) }
            // For metres, only the number of the map is used.
            map = VenueMap(id: mapID, name: "", level: 0, width: 1, height: 1)
        }
        do throws(FixError) { return try map?.fix(at: place, radius: radius) } catch { throw .fix(error) }
    }
}
/// The handshake by which plugins with the same tag find each other, in any order of addition.
///
/// A new plugin broadcasts `initialize`. The others answer `acknowledge` with the new plugin's number as payload, so
/// that further plugins ignore the answer. A plugin that stops broadcasts `stop`. The handshake is a value that
/// returns the data to broadcast, and sends nothing itself.
///
///     await host.broadcast(handshake.greeting)
///     …
///     if let answer = handshake.handle(data) { await host.broadcast(answer) }
public struct PluginHandshake: Hashable, Sendable {
    /// The tag of the plugins.
    package let tag: String
    /// The plugin that the handshake belongs to.
    package let own: PluginID
    /// The other plugins with the tag.
    package private(set) var peers: Set<PluginID> = []

    /// Creates the handshake of a plugin without peers.
    public init(tag: String, own: PluginID) {
        self.tag = tag
        self.own = own
    }

    /// The data to broadcast at the start of the plugin.
    public var greeting: PluginData { PluginData(tag: tag, operation: .initialize, sender: own) }
    /// The data to broadcast at the stop of the plugin.
    package var farewell: PluginData { PluginData(tag: tag, operation: .stop, sender: own) }

    /// Handles broadcast data; ignores data that is not another plugin's handshake with this tag.
    ///
    /// - Returns: the answer to broadcast; nil if no answer is needed.
    public mutating func handle(_ data: PluginData) -> PluginData? {
        guard data.tag == tag, let sender = data.sender, sender != own else { return nil }
        switch data.operation {
        case .initialize:
            peers.insert(sender)
            return PluginData(tag: tag, operation: .acknowledge, sender: own, payload: sender)
        case .acknowledge:
            if data.value(as: PluginID.self) == own { peers.insert(sender) }
        case .stop:
            peers.remove(sender)
        default:
            break
        }
        return nil
    }
}

/// A failure of a plugin. It doesn't affect the other plugins and the session.
public struct PluginFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The operation that failed.
    public enum Occasion: Hashable, Sendable {
        /// The program added the plugin a second time.
        case adding
        /// The initialization; the host has dropped the plugin.
        case initializing
        /// The stop.
        case stopping
        /// The delivery of an element of a stream.
        case receiving(PluginStreams)
        /// The plugin's own work; the plugin has reported the failure.
        case working
    }

    /// The plugin's number; nil if it has none.
    public var plugin: PluginID?
    /// The name of the plugin's type.
    public var name: String
    /// The operation that failed.
    public var occasion: Occasion
    /// The description of the error.
    public var cause: String

    /// Creates a failure.
    package init(plugin: PluginID?, name: String, occasion: Occasion, cause: String) {
        self.plugin = plugin
        self.name = name
        self.occasion = occasion
        self.cause = cause
    }

    public var description: String {
        let number = plugin.map { " (plugin \($0))" } ?? ""
        return switch occasion {
        case .adding: "\(name)\(number) was not added: \(cause)"
        case .initializing: "\(name)\(number) failed to initialize and is not kept: \(cause)"
        case .stopping: "\(name)\(number) failed to stop: \(cause)"
        case .receiving(let stream): "\(name)\(number) failed on \(stream.names): \(cause)"
        case .working: "\(name)\(number): \(cause)"
        }
    }
}

extension PluginStreams {
    /// The names of the streams.
    var names: String {
        let names: [(PluginStreams, String)] = [
            (.positions, "a position"), (.motion, "a motion estimate"), (.networkPositions, "a network position"),
            (.networkData, "network data"),
            (.pluginData, "plugin data"), (.errors, "an error"),
        ]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}
