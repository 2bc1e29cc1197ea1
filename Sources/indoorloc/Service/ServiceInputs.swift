import IndoorLocalization
import VenuePackets

/// What a service is told to do: by its call and its files, and by a server.
struct ServiceInputs: Sendable {
    /// What the call and its files say.
    struct Content: Sendable {
        var settings: SettingsStack
        /// What is watched beside the fences of the venues.
        var geofences: [Geofence]
    }

    /// The settings that count, of the call, its files and the server.
    private(set) var settings: SettingsStack
    /// The settings of a server; nil if none gives any.
    let remote: RemoteSettings?
    private let read: @Sendable () throws -> Content
    /// What the server gave last.
    private var entries: [SettingsEntry] = []
    /// Why the server gave nothing, as it was told last; nil if it gave something since.
    private var lastFailure: String?

    /// - Parameters:
    ///   - settings: what the call and its files say.
    ///   - read: reads them again.
    init(_ settings: SettingsStack, remote: RemoteSettings?, read: @escaping @Sendable () throws -> Content) {
        self.settings = settings
        self.remote = remote
        self.read = read
    }

    /// Reads call and files again; what the server gave stays.
    ///
    /// - Returns: what is watched beside the fences of the venues.
    /// - Throws: what is wrong with the files, or `SettingsFailure` if they contradict what the server gave; then all stays as it
    ///   was.
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

    /// Takes what the server gives, in place of what it gave before. With settings that contradict each other, all stays
    /// as it was.
    ///
    /// - Returns: what is wrong, for people.
    mutating func take(_ update: RemoteSettings.Update) -> [String] {
        switch update {
        case .failure(let error):
            guard error.message != lastFailure else { return [] }
            lastFailure = error.message
            return ["\(error.message); the earlier settings of the server stay"]
        case .settings(let entries):
            lastFailure = nil
            var next = settings
            let problems = next.load(entries, from: .remote).map(\.description)
            next.apply()
            let contradictions = next.problems.map(\.description)
            guard contradictions.isEmpty else {
                return problems + contradictions + ["the earlier settings of the server stay"]
            }
            settings = next
            self.entries = entries
            return problems
        }
    }
}
