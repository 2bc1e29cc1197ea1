import Foundation
import IndoorLocalization
import MQTTSharing

/// Options of the commands that share positions over a broker, and what they mean.
struct SharingOptions: Sendable {
    /// Beside an address, which is an option of its own or an operand.
    static let brokerOptions = [
        CommandOption(
            name: "share-name", argument: "ID", help: "what this device is called there (default the host's name)"),
        CommandOption(name: "share-ca", argument: "FILE", help: "certificates (PEM) that may vouch for the broker"),
        CommandOption(
            name: "share-password-file", argument: "FILE",
            help: "file with the broker's password (default $\(MQTTCredentials.environmentVariable))"),
        CommandOption(
            name: "share-plain-password", help: "send the password without TLS, where others can read it"),
        CommandOption(
            name: "share-prefix", argument: "PREFIX",
            help: "what topics begin with, for all the same (default \(MQTTSharingSettings().prefix))"),
    ]
    /// How many devices there may be, for a command that is one of them.
    static let limitOptions = [
        CommandOption(
            name: "share-room-capacity", argument: "N", help: "come into the room only as one of the first N devices"),
        CommandOption(
            name: "share-server-capacity", argument: "N", help: "come to the broker only as one of the first N devices"),
    ]
    /// All options of a command that knows where this machine is.
    static let options =
        [
            CommandOption(
                name: "share", argument: "ADDRESS", help: "tell positions there: mqtt[s]://[USER@]HOST[:PORT]/ROOM")
        ] + brokerOptions + limitOptions + [
            CommandOption(
                name: "share-interval", argument: "SECONDS", help: "least time between two positions (default 1)"),
            CommandOption(name: "home-assistant", help: "have Home Assistant show this device, too"),
        ]

    /// The broker, with credentials, and the room.
    let address: MQTTAddress
    /// What this device is called.
    let device: DeviceID
    /// How it is shared.
    let settings: MQTTSharingSettings

    /// Reads the options of a command; nil if it is to share nothing.
    init?(_ arguments: ParsedArguments) throws {
        let told = arguments.value("share")
        guard let text = try told ?? Self.address(arguments) else {
            guard let name = Self.options.map(\.name).first(where: arguments.has) else { return nil }
            throw UsageError(message: "--\(name) needs --share", command: arguments.syntax.name)
        }
        try self.init(address: text, what: told == nil ? "sharing.host and sharing.room" : "--share", arguments)
    }

    /// The address that the settings give; nil if they give none.
    private static func address(_ arguments: ParsedArguments) throws -> String? {
        let sharing = try arguments.settings().resolved.sharing
        guard let host = sharing.host else { return nil }
        guard let room = sharing.room?.addingPercentEncoding(withAllowedCharacters: .alphanumerics) else {
            throw UsageError(
                message: "the setting sharing.host needs sharing.room, the room of devices",
                command: arguments.syntax.name)
        }
        return "\(host)/\(room)"
    }

    /// Reads the options of a command that has the address from elsewhere.
    ///
    /// - Parameters:
    ///   - what: what the address is called.
    ///   - suffix: what follows the host's name where no name is given.
    init(address text: String, what: String, _ arguments: ParsedArguments, suffix: String = "") throws {
        let command = arguments.syntax.name
        var address: MQTTAddress
        do throws(MQTTSharingError) { address = try MQTTAddress(text) } catch {
            throw UsageError(message: "\(what): \(error)", command: command)
        }
        if let file = arguments.value("share-ca") {
            guard address.broker.security != nil else {
                throw UsageError(message: "--share-ca needs an address that begins with mqtts", command: command)
            }
            address.broker.security?.authorityFile = file
        }
        let passwordFile = arguments.value("share-password-file")
        if let user = address.broker.credentials?.user {
            address.broker.credentials =
                try passwordFile.map { file throws(MQTTSharingError) in
                    try MQTTCredentials(user: user, passwordFile: file)
                } ?? MQTTCredentials(user: user, passwordVariable: MQTTCredentials.environmentVariable)
        } else if passwordFile != nil {
            throw UsageError(message: "--share-password-file needs a user: mqtt://USER@…", command: command)
        }
        address.broker.allowsPlainPassword = arguments.has("share-plain-password")
        do throws(MQTTSharingError) { try address.broker.checkSecrecy() } catch {
            throw UsageError(message: "\(what): \(error)", command: command)
        }
        if address.broker.sendsPasswordInTheClear {
            StandardError.write(
                "indoorloc: warning: the password is sent to \(address.broker.host) unencrypted; others can read it\n")
        }
        self.address = address
        device = try Self.device(arguments, suffix)
        settings = try Self.settings(arguments)
    }

    private static func settings(_ arguments: ParsedArguments) throws -> MQTTSharingSettings {
        var settings = MQTTSharingSettings()
        settings.prefix = arguments.value("share-prefix") ?? settings.prefix
        settings.interval = try arguments.settings().resolved.sharing.interval ?? settings.interval
        settings.interval = .seconds(
            try arguments.seconds("share-interval", in: 0...86_400, else: settings.interval.seconds))
        func capacity(_ option: String) throws(UsageError) -> Int? {
            guard arguments.has(option) else { return nil }
            return try arguments.number(option, in: 0...1_000_000, else: 0)
        }
        settings.roomCapacity = try capacity("share-room-capacity")
        settings.serverCapacity = try capacity("share-server-capacity")
        if arguments.has("home-assistant") { settings.homeAssistantPrefix = HomeAssistantDiscovery.standardPrefix }
        // Of what is set here, only the prefix can still be wrong.
        do throws(MQTTSharingError) { try settings.check() } catch {
            throw UsageError(message: "--share-prefix: \(error)", command: arguments.syntax.name)
        }
        return settings
    }

    private static func device(_ arguments: ParsedArguments, _ suffix: String) throws(UsageError) -> DeviceID {
        let name = arguments.value("share-name")
        var own = ProcessInfo.processInfo.hostName + suffix
        if !suffix.isEmpty, own.unicodeScalars.count > SharingNameError.longest {
            own = own.prefix(SharingNameError.longest - suffix.count - 1) + suffix
        }
        do throws(SharingNameError) { return try DeviceID(name ?? own) } catch {
            let what = name == nil ? "the host's name; give --share-name" : "--share-name"
            throw UsageError(message: "\(what): \(error)", command: arguments.syntax.name)
        }
    }

    /// What shares, not connected yet.
    func sharing() throws(MQTTSharingError) -> MQTTPositionSharing {
        try MQTTPositionSharing(address.broker, device: device, settings: settings)
    }
}
