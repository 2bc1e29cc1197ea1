import IndoorLocalization
import VenuePackets

/// The settings and geofences of a service, from its command line, its files and a server.
struct ServiceInputs: Sendable {
    /// The settings and geofences of the command line and its files.
    struct Content: Sendable {
        var settings: SettingsStack
        /// The geofences to monitor, in addition to the venues' fences.
        var geofences: [Geofence]
    }

    /// The settings in effect, from the command line, its files and the server.
    private(set) var settings: SettingsStack
    /// The settings of a server; nil without a server.
    let remote: RemoteSettings?
    private let read: @Sendable () throws -> Content
    /// The server's latest settings.
    private var entries: [SettingsEntry] = []
    /// The server's last reported error; nil if it has given settings since.
    private var lastFailure: String?

    /// - Parameters:
    ///   - settings: the settings of the command line and its files.
    ///   - read: reads the command line's files again.
    init(_ settings: SettingsStack, remote: RemoteSettings?, read: @escaping @Sendable () throws -> Content) {
        self.settings = settings
        self.remote = remote
        self.read = read
    }

    /// Reads the files again and keeps the server's settings.
    ///
    /// - Returns: the geofences to monitor, in addition to the venues' fences.
    /// - Throws: the error of a file, or `SettingsFailure` if the files contradict the server's settings. Then nothing
    ///   changes.
    mutating func reload() throws -> [Geofence] {
        let content = try read()
        var next = content.settings
        _ = next.load(entries, from: .remote)
        next.apply()
        let problems = next.problems
        guard problems.isEmpty else { throw SettingsFailure(problems: problems) }
        settings = next
        return content.geofences
    }

    /// Replaces the server's earlier settings. If the new settings contradict each other, nothing changes.
    ///
    /// - Returns: the problems in words, then a note for each expert setting.
    mutating func apply(_ update: RemoteSettings.Update) -> [String] {
        switch update {
        case .failure(let error):
            guard error.message != lastFailure else { return [] }
            lastFailure = error.message
            return ["\(error.message); the server's earlier settings stay in effect"]
        case .settings(let entries):
            lastFailure = nil
            var next = settings
            let problems = next.load(entries, from: .remote).map(\.description)
            next.apply()
            let contradictions = next.problems.map(\.description)
            guard contradictions.isEmpty else {
                return problems + contradictions + ["the server's earlier settings stay in effect"]
            }
            settings = next
            self.entries = entries
            return problems + next.expertNotes(of: .remote)
        }
    }
}
