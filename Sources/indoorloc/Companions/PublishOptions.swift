import Foundation
import IndoorLocalization
import MQTTSharing

/// The options of a command that publishes what the radio receives, and their values.
struct PublishOptions: Sendable {
    static let options = [
        CommandOption(
            name: "publish", argument: "ADDRESS",
            help: "publish all advertisements over this MQTT broker: mqtt[s]://[USER@]HOST[:PORT]/PREFIX"),
        CommandOption(
            name: "name", argument: "NAME", help: "name of this gateway in the topic (default: the host name)"),
        CommandOption(
            name: "publish-ca", argument: "FILE", help: "certificate authorities (PEM) to trust for the broker"),
        CommandOption(
            name: "publish-password-file", argument: "FILE",
            help: "file with the broker's password (default $\(MQTTCredentials.environmentVariable))"),
        CommandOption(name: "publish-plain-password", help: "allow sending the password without TLS, unencrypted"),
    ]

    /// The broker, with credentials.
    let broker: MQTTBroker
    /// The first level of all topics.
    let prefix: String
    /// The name of this gateway.
    let gateway: String

    /// Reads the options of a command; returns nil without `--publish`.
    init?(_ arguments: ParsedArguments) throws {
        let command = arguments.syntax.name
        guard let text = arguments.value("publish") else {
            guard let name = Self.options.map(\.name).first(where: arguments.has) else { return nil }
            throw UsageError(message: "--\(name) requires --publish", command: command)
        }
        var address: MQTTAddress
        do throws(MQTTSharingError) {
            address = try MQTTAddress(text)
        } catch { throw UsageError(message: "--publish: \(error)", command: command) }
        address.broker = try arguments.credentials(for: address.broker, what: "--publish", prefix: "publish")
        let name = arguments.value("name")
        do throws(SharingNameError) {
            gateway = try DeviceID(name ?? ProcessInfo.processInfo.hostName).rawValue
        } catch {
            let what = name == nil ? "the host name (set --name)" : "--name"
            throw UsageError(message: "\(what): \(error)", command: command)
        }
        broker = address.broker
        prefix = address.room
    }
}
