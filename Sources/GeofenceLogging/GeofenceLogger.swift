import Glibc
import LocalizationPlugins
import LocalizationSession

/// A plugin that records in a `GeofenceLog` when the device enters or leaves a geofence or a room.
///
///     let logger = await host.add(GeofenceLogger(), arguments: .init(path: "geofences.db"))
///     …
///     let visits = try await logger?.log?.records(.fence(7, of: 1))
///
/// If a write fails, for example on a full disk, the plugin reports it on the host's `failures`, keeps the records, and
/// tries again with the next event. When `stop()` returns, all earlier events of the session are in the log.
public actor GeofenceLogger: LocalizationPlugin {
    /// The arguments of the plugin.
    public struct Arguments: Sendable {
        /// The path of the log, which the plugin creates if it does not exist.
        package var path: String
        /// The limits of the log.
        package var settings: GeofenceLogSettings
        /// The kinds of records that are written; all by default.
        package var kinds: Set<GeofenceRecord.Kind>
        /// A closure that returns the time in seconds since 1970 (UTC); the device's clock by default.
        package var time: @Sendable () -> Double

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

    /// The maximum number of records that wait while the log cannot be written. Beyond it, the oldest are discarded.
    private static let pendingLimit = 10_000

    /// The log, for queries; nil before the plugin is initialized.
    public private(set) var log: GeofenceLog?
    /// The number of records that wait to be written.
    package var pendingRecords: Int { pending.count }
    /// The number of records discarded because the log could not be written for too long.
    public private(set) var lostRecords = 0

    private var pending: [GeofenceRecord] = []
    private weak var host: PluginHost?
    private var listening: Task<Void, Never>?

    /// Creates the plugin. Add it to a host to use it.
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

    /// Writes all events so far, and closes the log.
    public func stop() async -> Bool {
        // A cancelled stream delivers its buffered elements and then ends.
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

    /// A closure that returns the device's clock, in seconds since 1970 (UTC).
    public static let deviceTime: @Sendable () -> Double = {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Double(now.tv_sec) + Double(now.tv_nsec) / 1e9
    }
}
