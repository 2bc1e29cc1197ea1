import Foundation
import IndoorLocalization
import VenuePackets

/// Options of settings that a server gives, and what they mean.
struct SettingsServerOption: Sendable {
    static let options = [
        CommandOption(
            name: "settings-url", argument: "URL",
            help: "ask this https address for settings, every remote.interval; files and --set count more"),
        CommandOption(name: "settings-token-file", argument: "FILE", help: "file with that server's bearer token"),
        CommandOption(name: "settings-ca", argument: "FILE", help: "certificates (PEM) that may vouch for it"),
    ]

    private let server: VenueServer
    private let path: String

    /// Reads the options of a command; nil if no server gives settings.
    init?(_ arguments: ParsedArguments) throws {
        let command = arguments.syntax.name
        guard let url = arguments.value("settings-url") else {
            guard let given = Self.options.map(\.name).first(where: arguments.has) else { return nil }
            throw UsageError(message: "--\(given) needs --settings-url", command: command)
        }
        // Whoever is on the way could change what the device does.
        if VenueServer.sendsInTheClear(to: url) {
            let message = "--settings-url: others could change what http brings; use https"
            throw UsageError(message: message, command: command)
        }
        guard let slash = url.lastIndex(of: "/"), !url[..<slash].hasSuffix("/"), url.last != "/",
            let name = url[url.index(after: slash)...].removingPercentEncoding
        else {
            let message = "--settings-url must name a document, such as https://example.org/settings.json"
            throw UsageError(message: message, command: command)
        }
        server = try WebServerOption("settings").server(String(url[..<slash]), arguments)
        path = name
    }

    /// The settings that the server gives, asked for as `pull` says.
    func settings(_ pull: RemotePullSettings) -> RemoteSettings { RemoteSettings(server, path: path, pull: pull) }
}

/// Follows the settings of a server beside a service's session.
struct SettingsCompanion: ServiceCompanion {
    let remote: RemoteSettings
    let give: @Sendable (RemoteSettings.Update) -> Void

    func run(beside localizer: Localizer) async {
        for await update in remote.updates() { give(update) }
    }
}
