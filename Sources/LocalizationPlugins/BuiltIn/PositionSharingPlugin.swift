import IndoorVocabulary
import LocalizationSession
import VenueModel

/// A plugin that shares the position of this device with other devices, and stores theirs.
///
///     let host = PluginHost(localizer: localizer, sharing: broker)
///     let others = await host.add(PositionSharingPlugin(), arguments: .init(rooms: ["forklifts"]))
///
/// It uses the `PositionSharing` of its host. The host delivers the positions and messages of other devices to all
/// plugins that have subscribed to `networkPositions` and `networkData`; this plugin stores the latest position of
/// each device.
///
/// It starts no services: it joins its rooms whenever the host's services have connected. If it can't join a room, it
/// reports the error on the host's `failures`, joins the others, and tries again with the next connection.
///
/// The plugin also uses the settings `sharing.room` and `sharing.interval` (<doc:Configuration>): it joins the room in
/// addition to those of the arguments, and the interval replaces that of the arguments.
public actor PositionSharingPlugin: LocalizationPlugin, VenuePositionReceiver {
    /// The arguments of the plugin.
    public struct Arguments: Hashable, Sendable {
        /// The rooms to join.
        package var rooms: [String]
        /// The time between two shared positions, from 0 s on. With 0 s, the plugin passes on all positions, and the
        /// sharing service limits their rate.
        package var interval: Duration

        /// Creates the arguments.
        public init(rooms: [String], interval: Duration = .zero) {
            self.rooms = rooms
            self.interval = interval
        }
    }

    /// The rooms that this device has joined, in order.
    public private(set) var rooms: [String] = []
    /// The latest positions of the other devices.
    public private(set) var devices: [DeviceID: SharedPosition] = [:]
    /// The number of devices in each room whose number is known.
    public private(set) var occupancies: [String: Int] = [:]

    /// The requested rooms, joined or not, in order.
    private var wanted: [String] = []
    /// The room in the settings; nil if there is none, or if the arguments contain it.
    private var settingsRoom: String?
    private var isConnected = false
    private var interval = Duration.zero
    private var lastShared: Instant?
    private var sharing: (any PositionSharing)?
    private weak var host: PluginHost?

    /// Creates the plugin; a host adds it.
    public init() {}

    /// Prepares the plugin, which joins its rooms when a connection exists.
    ///
    /// - Returns: false if the host has no sharing service.
    /// - Throws: `SharingNameError` if the name of one of the rooms is invalid.
    public func initialize(host: PluginHost, arguments: Arguments) async throws -> Bool {
        guard let sharing = host.sharing else { return false }
        for room in arguments.rooms { try Self.check(room) }
        self.host = host
        self.sharing = sharing
        interval = arguments.interval
        for room in arguments.rooms where !wanted.contains(room) { wanted.append(room) }
        _ = try await useSettings()
        await host.subscribe(self, to: [.positions, .networkPositions, .networkData])
        return true
    }

    /// Leaves the rooms.
    public func stop() async throws -> Bool {
        for room in wanted { try await leave(room) }
        return true
    }

    /// Joins another room, at once or as soon as there is a connection; has no effect on a room that is joined
    /// already.
    ///
    /// - Throws: `SharingNameError`, or the reason why the device can't join the room now. In the latter case, the
    ///   plugin tries again with the next connection, unless the program leaves the room first.
    public func join(_ room: String) async throws {
        guard let sharing, !rooms.contains(room) else { return }
        try Self.check(room)
        if !wanted.contains(room) { wanted.append(room) }
        guard isConnected else { return }
        try await sharing.join(room)
        // The program may have left the room before the device had joined it.
        guard wanted.contains(room) else { return try await sharing.leave(room) }
        if !rooms.contains(room) { rooms.append(room) }
    }

    /// Leaves a room, and removes the devices in it.
    public func leave(_ room: String) async throws {
        if rooms.contains(room) { try await sharing?.leave(room) }
        wanted.removeAll { $0 == room }
        forget(room)
    }

    private static func check(_ room: String) throws(SharingNameError) {
        if let error = SharingNameError(of: room) { throw error }
    }

    /// Joins the room in the settings, and leaves the previous one.
    private func useSettings() async throws -> SharingSettings {
        let settings = await host?.localizer.settings.resolved.sharing ?? SharingSettings()
        guard settings.room != settingsRoom else { return settings }
        if let old = settingsRoom {
            settingsRoom = nil
            try await leave(old)
        }
        guard let room = settings.room, !wanted.contains(room) else { return settings }
        settingsRoom = room
        try await join(room)
        return settings
    }

    private func joinAll() async throws {
        var failure: (any Error)?
        // The program may leave a room while the plugin joins another one.
        for room in wanted where wanted.contains(room) {
            do { try await join(room) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    /// Sends a text to all rooms.
    public func send(_ text: String, tag: String = "") async throws {
        for room in rooms { try await sharing?.send(text, tag: tag, to: room) }
    }

    public func receive(position: Position) async throws {
        try await receive(position: position, in: host?.localizer.state.venue)
    }

    package func receive(position: Position, in venue: Venue?) async throws {
        let interval = try await useSettings().interval ?? interval
        // An instant before the last one belongs to a new session.
        let isSoon =
            lastShared.map { position.instant >= $0 && $0.duration(to: position.instant) < interval } ?? false
        guard !isSoon, !rooms.isEmpty else { return }
        lastShared = position.instant
        let level = venue?.id == position.venueID ? venue?.map(position.mapID)?.level : nil
        try await sharing?.share(position, level: level)
    }

    public func receive(networkPosition: SharedPosition) { devices[networkPosition.device] = networkPosition }

    public func receive(networkData: SharingEvent) async throws {
        switch networkData {
        case .connected:
            isConnected = true
            _ = try await useSettings()
            try await joinAll()
        case .disconnected: isConnected = false
        case .occupancy(let room, let count): occupancies[room] = count
        case .roomFull(let room, _), .left(let room): forget(room)
        case .serverFull: await sharing?.disconnect()
        case .joined, .position, .message, .failed: break
        }
    }

    private func forget(_ room: String) {
        rooms.removeAll { $0 == room }
        occupancies[room] = nil
        devices = devices.filter { $0.value.room != room }
    }
}
