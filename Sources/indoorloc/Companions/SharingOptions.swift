import Foundation
import IndoorLocalization
import MQTTSharing
import SecretFiles

/// The options of the commands that share positions over a broker, and their values.
struct SharingOptions: Sendable {
    /// The option of the device's name.
    static let nameOption = CommandOption(
        name: "share-name", argument: "ID", help: "name of this device (default: the host name)")
    /// The options of the broker, without its address.
    static let brokerOptions = [
        nameOption,
        CommandOption(
            name: "share-ca", argument: "FILE", help: "certificate authorities (PEM) to trust for the broker"),
        CommandOption(
            name: "share-password-file", argument: "FILE",
            help: "file with the broker's password (default $\(MQTTCredentials.environmentVariable))"),
        CommandOption(
            name: "share-plain-password", help: "allow sending the password without TLS, unencrypted"),
        CommandOption(
            name: "share-prefix", argument: "PREFIX",
            help: "prefix of all topics, the same for all devices (default \(MQTTSharingSettings().prefix))"),
    ]
    /// The options that limit the number of devices.
    static let limitOptions = [
        CommandOption(
            name: "share-room-capacity", argument: "N", help: "join the room only if it has fewer than N devices"),
        CommandOption(
            name: "share-server-capacity", argument: "N", help: "connect only if the broker has fewer than N devices"),
        CommandOption(
            name: "share-ignore-limits", help: "ignore the limits that are published on the broker"),
    ]
    /// The options of signatures.
    static let signatureOptions = [
        CommandOption(
            name: "share-sign-key", argument: "FILE", help: "sign with this key, which 'share keygen' created"),
        CommandOption(
            name: "share-trust", argument: "FILE", help: "accept the devices in this list only with their signature"),
        CommandOption(
            name: "share-require-signatures", help: "with --share-trust: ignore all other devices and broker limits"),
    ]
    /// All options of a command that shares positions.
    static let options =
        [
            CommandOption(
                name: "share", argument: "ADDRESS",
                help: "share positions over this MQTT broker: mqtt[s]://[USER@]HOST[:PORT]/ROOM")
        ] + brokerOptions + limitOptions + signatureOptions + [
            CommandOption(
                name: "share-interval", argument: "SECONDS", help: "minimum time between two positions (default 1)"),
            CommandOption(name: "home-assistant", help: "also announce this device to Home Assistant"),
        ]

    /// The broker, with credentials, and the room.
    let address: MQTTAddress
    /// The name of this device.
    let device: DeviceID
    /// The settings of sharing.
    let settings: MQTTSharingSettings

    /// Reads the options of a command; returns nil if it doesn't share.
    init?(_ arguments: ParsedArguments) throws {
        let given = arguments.value("share")
        guard let text = try given ?? Self.address(arguments) else {
            guard let name = Self.options.map(\.name).first(where: arguments.has) else { return nil }
            throw UsageError(message: "--\(name) requires --share", command: arguments.syntax.name)
        }
        try self.init(address: text, what: given == nil ? "sharing.host and sharing.room" : "--share", arguments)
    }

    /// The address in the settings; nil if they have none.
    private static func address(_ arguments: ParsedArguments) throws -> String? {
        let sharing = try arguments.settings().resolved.sharing
        guard let host = sharing.host else { return nil }
        guard let room = sharing.room?.addingPercentEncoding(withAllowedCharacters: .alphanumerics) else {
            throw UsageError(
                message: "the setting sharing.host requires sharing.room, the room of devices",
                command: arguments.syntax.name)
        }
        return "\(host)/\(room)"
    }

    /// Reads the options of a command with a given address.
    ///
    /// - Parameters:
    ///   - what: the address's name in errors.
    ///   - suffix: appended to the host name if no name is given.
    init(address text: String, what: String, _ arguments: ParsedArguments, suffix: String = "") throws {
        let command = arguments.syntax.name
        var address: MQTTAddress
        do throws(MQTTSharingError) { address = try MQTTAddress(text) } catch {
            throw UsageError(message: "\(what): \(error)", command: command)
        }
        address.broker = try arguments.credentials(for: address.broker, what: what, prefix: "share")
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
        settings.obeysBrokerLimits = !arguments.has("share-ignore-limits")
        if let file = arguments.secretFile("share-sign-key", .key) {
            // The library checks it, too. Its error doesn't name the option.
            try file.check()
            settings.signingKey = try SharingSigningKey(file: file.path)
        }
        let requiresSignatures = arguments.has("share-require-signatures")
        settings.trust = try arguments.value("share-trust").map { file throws(MQTTSharingError) in
            try SharingTrust(file: file, policy: requiresSignatures ? .require : .prefer)
        }
        if requiresSignatures, settings.trust == nil {
            throw UsageError(
                message: "--share-require-signatures requires --share-trust", command: arguments.syntax.name)
        }
        if arguments.has("home-assistant") { settings.homeAssistantPrefix = HomeAssistantDiscovery.standardPrefix }
        // All other values have been checked; only the prefix can be invalid.
        do throws(MQTTSharingError) { try settings.check() } catch {
            throw UsageError(message: "--share-prefix: \(error)", command: arguments.syntax.name)
        }
        return settings
    }

    /// Returns the device of `--share-name`, or else of the host name.
    ///
    /// - Parameter suffix: appended to the host name.
    static func device(_ arguments: ParsedArguments, _ suffix: String = "") throws(UsageError) -> DeviceID {
        let name = arguments.value("share-name")
        var own = ProcessInfo.processInfo.hostName + suffix
        if !suffix.isEmpty, own.unicodeScalars.count > SharingNameError.longest {
            own = own.prefix(SharingNameError.longest - suffix.count - 1) + suffix
        }
        do throws(SharingNameError) { return try DeviceID(name ?? own) } catch {
            let what = name == nil ? "the host name (set --share-name)" : "--share-name"
            throw UsageError(message: "\(what): \(error)", command: arguments.syntax.name)
        }
    }

    /// Returns the sharing client, not yet connected.
    func sharing() throws(MQTTSharingError) -> MQTTPositionSharing {
        try MQTTPositionSharing(address.broker, device: device, settings: settings)
    }
}
