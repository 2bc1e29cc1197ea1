/// A plugin that tells other devices where this one is, and knows where they are.
///
///     let host = PluginHost(localizer: localizer, sharing: broker)
///     let others = await host.add(PositionSharingPlugin(), arguments: .init(rooms: ["forklifts"]))
///
/// It works over any `PositionSharing`, the one of its host. What the others tell arrives with all plugins that have
/// subscribed to `networkPositions` and `networkData`; this one keeps the last of each device.
public actor PositionSharingPlugin: LocalizationPlugin {
    /// What the plugin works with.
    public struct Arguments: Hashable, Sendable {
        /// The rooms to join.
        public var rooms: [String]
        /// The time between two positions that are told, from 0 s on; 0 s tells them all.
        public var interval: Duration

        /// Creates the arguments.
        public init(rooms: [String], interval: Duration = .seconds(1)) {
            self.rooms = rooms
            self.interval = interval
        }
    }

    /// The rooms that this device has joined, in order.
    public private(set) var rooms: [String] = []
    /// Where the other devices were when they told last.
    public private(set) var devices: [DeviceID: SharedPosition] = [:]
    /// How many devices are in a room, where that is known.
    public private(set) var occupancies: [String: Int] = [:]

    private var interval = Duration.zero
    private var lastShared: Instant?
    private var sharing: (any PositionSharing)?
    private weak var host: PluginHost?

    /// Creates the plugin, to be added to a host.
    public init() {}

    /// Connects and joins the rooms.
    ///
    /// - Returns: false if the host has no way to other devices.
    /// - Throws: why there is no connection, or why a room cannot be joined; then none is.
    public func initialize(host: PluginHost, arguments: Arguments) async throws -> Bool {
        guard let sharing = host.sharing else { return false }
        self.host = host
        self.sharing = sharing
        interval = arguments.interval
        await host.subscribe(self, to: [.positions, .networkPositions, .networkData])
        try await host.startServices()
        do {
            for room in arguments.rooms { try await join(room) }
        } catch {
            for room in rooms { try? await leave(room) }
            throw error
        }
        return true
    }

    /// Leaves the rooms.
    public func stop() async throws -> Bool {
        for room in rooms { try await leave(room) }
        return true
    }

    /// Joins one more room; one that it is in already is not joined again.
    public func join(_ room: String) async throws {
        guard let sharing, !rooms.contains(room) else { return }
        try await sharing.join(room)
        if !rooms.contains(room) { rooms.append(room) }
    }

    /// Leaves a room; the devices that told from it are forgotten.
    public func leave(_ room: String) async throws {
        guard let sharing, rooms.contains(room) else { return }
        try await sharing.leave(room)
        forget(room)
    }

    /// Sends a text to all rooms.
    public func send(_ text: String, tag: String = "") async throws {
        for room in rooms { try await sharing?.send(text, tag: tag, to: room) }
    }

    public func receive(position: Position) async throws {
        // An instant before the last one is of a new session.
        let isSoon =
            lastShared.map { position.instant >= $0 && $0.duration(to: position.instant) < interval } ?? false
        guard !isSoon, !rooms.isEmpty else { return }
        lastShared = position.instant
        try await sharing?.share(position)
    }

    public func receive(networkPosition: SharedPosition) { devices[networkPosition.device] = networkPosition }

    public func receive(networkData: SharingEvent) async {
        switch networkData {
        case .occupancy(let room, let count): occupancies[room] = count
        case .roomFull(let room, _), .left(let room): forget(room)
        case .serverFull: await sharing?.disconnect()
        case .connected, .disconnected, .joined, .position, .message, .failed: break
        }
    }

    private func forget(_ room: String) {
        rooms.removeAll { $0 == room }
        occupancies[room] = nil
        devices = devices.filter { $0.value.room != room }
    }
}
