import Foundation
import IndoorLocalization
import MQTTSharing
import SecretFiles

/// The companion that shares the positions of a session, and reports the connection's status on standard error.
///
/// If the broker can't be reached, the session continues, and the companion tries to connect again.
struct SharingCompanion<Venues: VenueSource>: SessionCompanion {
    private let room: String
    private let sharing: MQTTPositionSharing
    private let venues: Venues

    /// - Parameter venues: the session's venues; their packets give the levels of positions.
    init(_ options: SharingOptions, venues: Venues) throws(MQTTSharingError) {
        room = options.address.room
        sharing = try options.sharing()
        self.venues = venues
    }

    func run(beside localizer: Localizer) async {
        let (positions, events) = (localizer.positions, sharing.events)
        await withTaskGroup { group in
            group.addTask { for await event in events { await report(event) } }
            group.addTask { await connectAndJoin() }
            var known: VenueID?
            for await position in positions {
                if position.venueID != known {
                    known = position.venueID
                    // The session has already loaded the packet. Without it, positions have no level.
                    if let venue = try? await venues.packet(for: position.venueID, progress: { _ in }) {
                        await sharing.useLevels(of: venue)
                    }
                }
                // An invalid position is not shared.
                try? await sharing.share(position)
            }
            group.cancelAll()
            // Also ends a pending attempt to connect.
            await sharing.disconnect()
        }
    }

    /// Connects and joins the room, with retries. Afterwards the connection is restored automatically.
    private func connectAndJoin() async {
        var backoff = Backoff(first: .seconds(1), seed: .random(in: .min ... .max))
        var lastReason: String?
        while !Task.isCancelled {
            do {
                try await sharing.connectUnlessCancelled()
                // After the session's end, there is no connection, so that this throws.
                return try await sharing.join(room)
            } catch {
                let reason = "\(error)"
                if reason != lastReason, !Task.isCancelled { StandardError.line("sharing: \(reason)", .warning) }
                lastReason = reason
            }
            do { try await Task.sleep(for: backoff.next()) } catch { return }
        }
    }

    private func report(_ event: SharingEvent) async {
        switch event {
        case .connected: StandardError.line("sharing with \(sharing.broker.host) as \(sharing.device)", .info)
        case .disconnected(let reason):
            // A connection that breaks is restored unless it was ended.
            let verb = await sharing.isKept ? "is interrupted" : "has ended"
            StandardError.line("sharing \(verb): \(reason)", .warning)
        case .failed(let error): StandardError.line("sharing: \(error.message)", .warning, error.logFields)
        case .joined, .left, .position, .message, .occupancy, .roomFull, .serverFull: break
        }
    }
}

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
    ///
    /// - Parameter defaults: the session's settings, for what the options don't give.
    init?(_ arguments: ParsedArguments, defaults: SharingSettings) throws {
        let command = arguments.syntax.name
        let given = arguments.value("share")
        guard let text = try given ?? Self.address(defaults, command) else {
            guard let name = Self.options.map(\.name).first(where: arguments.has) else { return nil }
            throw UsageError(message: "--\(name) requires --share", command: command)
        }
        try self.init(
            address: text, what: given == nil ? "sharing.host and sharing.room" : "--share", arguments,
            defaults: defaults)
    }

    /// The address in the settings; nil if they have none.
    private static func address(_ settings: SharingSettings, _ command: String) throws -> String? {
        guard let host = settings.host else { return nil }
        guard let room = settings.room?.addingPercentEncoding(withAllowedCharacters: .alphanumerics) else {
            throw UsageError(
                message: "the setting sharing.host requires sharing.room, the room of devices", command: command)
        }
        return "\(host)/\(room)"
    }

    /// Reads the options of a command with a given address.
    ///
    /// - Parameters:
    ///   - what: the address's name in errors.
    ///   - suffix: appended to the host name if no name is given.
    ///   - defaults: the session's settings; those of a command without a session are the package's.
    init(
        address text: String, what: String, _ arguments: ParsedArguments, suffix: String = "",
        defaults: SharingSettings = SharingSettings()
    ) throws {
        let command = arguments.syntax.name
        var address: MQTTAddress
        do throws(MQTTSharingError) { address = try MQTTAddress(text) } catch {
            throw UsageError(message: "\(what): \(error)", command: command)
        }
        address.broker = try arguments.credentials(for: address.broker, what: what, prefix: "share")
        self.address = address
        device = try Self.device(arguments, suffix)
        settings = try Self.settings(arguments, defaults)
    }

    private static func settings(
        _ arguments: ParsedArguments, _ defaults: SharingSettings
    ) throws -> MQTTSharingSettings {
        var settings = MQTTSharingSettings()
        settings.prefix = arguments.value("share-prefix") ?? settings.prefix
        settings.interval = defaults.interval ?? settings.interval
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

/// The options of the commands that require a broker, and their values.
package struct BrokerOptions: Sendable {
    /// The options.
    package static let options =
        [
            CommandOption(name: "broker", argument: "ADDRESS", help: "MQTT broker: mqtt[s]://[USER@]HOST[:PORT]")
        ] + credentialOptions

    /// The options of the access to a broker.
    package static let credentialOptions = [
        CommandOption(
            name: "broker-ca", argument: "FILE", help: "certificate authorities (PEM) to trust for the broker"),
        CommandOption(
            name: "broker-password-file", argument: "FILE",
            help: "file with the broker's password (default $\(MQTTCredentials.environmentVariable))"),
        CommandOption(
            name: "broker-plain-password", help: "allow sending the password without TLS, unencrypted"),
    ]

    /// The broker, with credentials.
    package let broker: MQTTBroker

    /// Reads the options.
    ///
    /// - Throws: `UsageError` for an invalid address, or the error of the password file.
    package init(_ arguments: ParsedArguments) throws {
        let text = try arguments.required("broker")
        let address: MQTTBroker
        do throws(MQTTSharingError) { address = try MQTTBroker(address: text) } catch {
            throw UsageError(message: "--broker: \(error)", command: arguments.syntax.name)
        }
        broker = try arguments.credentials(for: address, what: "--broker", prefix: "broker")
    }
}

extension ParsedArguments {
    /// Returns the credentials of a user with the password of the option's file, or else of the environment.
    func credentials(of user: String, passwordOption: String) throws(SecretFileError) -> MQTTCredentials {
        guard let file = secretFile(passwordOption, .password) else {
            return MQTTCredentials(user: user, passwordVariable: MQTTCredentials.environmentVariable)
        }
        return MQTTCredentials(user: user, password: try file.line())
    }

    /// Returns a broker with the credentials of the options `--PREFIX-ca`, `--PREFIX-password-file` and
    /// `--PREFIX-plain-password`. Warns about an unencrypted password.
    ///
    /// - Parameter what: the name of the address in errors.
    package func credentials(for broker: MQTTBroker, what: String, prefix: String) throws -> MQTTBroker {
        var broker = broker
        func refusal(_ message: String) -> UsageError { UsageError(message: message, command: syntax.name) }
        if let file = value("\(prefix)-ca") {
            guard broker.security != nil else {
                throw refusal("--\(prefix)-ca requires an address that begins with mqtts")
            }
            broker.security?.authorityFile = file
        }
        let passwordOption = "\(prefix)-password-file"
        if let user = broker.credentials?.user {
            broker.credentials = try credentials(of: user, passwordOption: passwordOption)
        } else if has(passwordOption) {
            throw refusal("--\(passwordOption) requires a user: mqtt://USER@…")
        }
        broker.allowsPlainPassword = has("\(prefix)-plain-password")
        do throws(MQTTSharingError) { try broker.checkSecrecy() } catch { throw refusal("\(what): \(error)") }
        if broker.sendsPasswordInTheClear {
            StandardError.write("indoorloc: warning: the password is sent to \(broker.host) unencrypted\n")
        }
        return broker
    }
}
