import Glibc
import LocalizationPlugins
import LocalizationSession

/// A plugin that writes which fences and rooms the device enters and leaves into a `GeofenceLog`.
///
///     let logger = await host.add(GeofenceLogger(), arguments: .init(path: "geofences.db"))
///     …
///     let visits = try await logger?.log?.records(.fence(7, of: 1))
///
/// What cannot be written, as on a full disk, is reported on the host's `failures`, kept, and tried again with the next
/// event. All that the session told before `stop()` is in the log when that returns.
public actor GeofenceLogger: LocalizationPlugin {
    /// What the plugin works with.
    public struct Arguments: Sendable {
        /// The path of the log, which is begun if there is no such file.
        public var path: String
        /// How long the log remembers.
        public var settings: GeofenceLogSettings
        /// What is written; by default all.
        public var kinds: Set<GeofenceRecord.Kind>
        /// Tells the time in seconds since 1970 (UTC); by default the device's clock.
        public var time: @Sendable () -> Double

        /// Creates the arguments.
        public init(
            path: String, settings: GeofenceLogSettings = GeofenceLogSettings(),
            kinds: Set<GeofenceRecord.Kind> = [.fence, .room, .geofence],
            time: @escaping @Sendable () -> Double = GeofenceLogger.deviceTime
        ) {
            self.path = path
            self.settings = settings
            self.kinds = kinds
            self.time = time
        }
    }

    /// So many records wait at most while the log cannot be written; beyond, the oldest are lost.
    private static let pendingLimit = 10_000

    /// The log, for questions; nil before the plugin is initialized.
    public private(set) var log: GeofenceLog?
    /// How many records wait to be written.
    public var pendingRecords: Int { pending.count }
    /// How many records were lost because the log could not be written for too long.
    public private(set) var lostRecords = 0

    private var pending: [GeofenceRecord] = []
    private weak var host: PluginHost?
    private var listening: Task<Void, Never>?

    /// Creates the plugin, to be added to a host.
    public init() {}

    deinit { listening?.cancel() }

    /// Opens the log and begins to write.
    ///
    /// - Throws: `GeofenceLogError` if the log cannot be opened.
    public func initialize(host: PluginHost, arguments: Arguments) throws -> Bool {
        self.host = host
        log = try GeofenceLog(path: arguments.path, settings: arguments.settings)
        let events = host.localizer.events
        listening = Task { [weak self] in
            for await event in events {
                let record = GeofenceRecord(event, at: arguments.time())
                if arguments.kinds.contains(record.kind) { await self?.write(record) }
            }
        }
        return true
    }

    /// Writes what was told so far, and closes the log.
    public func stop() async -> Bool {
        // A cancelled stream gives what it holds, and then ends.
        listening?.cancel()
        await listening?.value
        listening = nil
        if !pending.isEmpty { await writePending() }
        await log?.close()
        return true
    }

    private func write(_ record: GeofenceRecord) async {
        pending.append(record)
        await writePending()
    }

    private func writePending() async {
        let records = pending
        do {
            try await log?.append(records)
            pending.removeFirst(records.count)
        } catch {
            let excess = max(0, pending.count - Self.pendingLimit)
            pending.removeFirst(excess)
            lostRecords += excess
            await host?.report(error, by: self)
        }
    }

    /// The device's clock, in seconds since 1970 (UTC).
    public static let deviceTime: @Sendable () -> Double = {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }
}
