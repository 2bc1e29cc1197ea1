import Foundation
import IndoorLocalization
import VenuePackets

/// The options of a settings server, and their values.
struct SettingsServerOption: Sendable {
    static let options = [
        CommandOption(
            name: "settings-url", argument: "URL",
            help: "read settings from this https URL every remote.interval; files and --set take precedence"),
        CommandOption(
            name: "settings-token-file", argument: "FILE", help: "file with the settings server's bearer token"),
        CommandOption(
            name: "settings-ca", argument: "FILE",
            help: "certificate authorities (PEM) to trust for the settings server"),
    ]

    private let server: VenueServer
    private let path: String

    /// Reads the options of a command; returns nil without `--settings-url`.
    init?(_ arguments: ParsedArguments) throws {
        let command = arguments.syntax.name
        guard let url = arguments.value("settings-url") else {
            guard let given = Self.options.map(\.name).first(where: arguments.has) else { return nil }
            throw UsageError(message: "--\(given) requires --settings-url", command: command)
        }
        // Over http, an attacker could change the device's settings.
        if VenueServer.sendsInTheClear(to: url) {
            let message = "--settings-url: settings over http could be forged; use https"
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

    /// The settings of the server, requested at the intervals in `pull`.
    func settings(_ pull: RemotePullSettings) -> RemoteSettings { RemoteSettings(server, path: path, pull: pull) }
}

/// The companion that follows the settings of a server.
struct SettingsCompanion: SessionCompanion {
    let remote: RemoteSettings
    let give: @Sendable (RemoteSettings.Update) -> Void

    func run(beside localizer: Localizer) async {
        for await update in remote.updates() { give(update) }
    }
}
