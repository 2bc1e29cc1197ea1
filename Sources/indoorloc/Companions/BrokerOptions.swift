import IndoorLocalization
import MQTTSharing
import SecretFiles

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
