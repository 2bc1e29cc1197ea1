import IndoorLocalization
import SecretFiles
import TagTracking
import TagTrackingService
import VenuePackets

/// The options of alerts, and their values.
struct AlertOptions: Sendable {
    /// The options.
    static let options = [
        CommandOption(
            name: "alerts", argument: "FILE",
            help:
                "raise alerts by the rules of this file (.json): a tag enters, leaves, is silent, or its battery is low"
        ),
        CommandOption(
            name: "alert-webhook", argument: "URL",
            help: "also send alerts to this web server, https or http to this machine; needs --state"),
        CommandOption(
            name: "alert-key", argument: "FILE", help: "file with the key (whsec_…) that signs requests of the webhook"),
        CommandOption(
            name: "alert-ca", argument: "FILE", help: "certificate authorities (PEM) to trust for the webhook"),
    ]

    /// The path of the file with the rules.
    let path: String
    /// The webhook; nil for none.
    let webhook: AlertWebhook?

    /// Reads the options; returns nil without `--alerts`.
    ///
    /// - Parameter hasState: whether there is a folder for the state, which a webhook needs.
    /// - Throws: `UsageError` or `CommandError` for an invalid address or key.
    init?(_ arguments: ParsedArguments, hasState: Bool) throws {
        guard let path = try arguments.input("alerts") else {
            guard let option = Self.options.dropFirst().map(\.name).first(where: arguments.has) else { return nil }
            throw UsageError(message: "--\(option) requires --alerts", command: arguments.syntax.name)
        }
        self.path = path
        guard let url = arguments.value("alert-webhook") else {
            guard let option = ["alert-key", "alert-ca"].first(where: arguments.has) else {
                webhook = nil
                return
            }
            throw UsageError(message: "--\(option) requires --alert-webhook", command: arguments.syntax.name)
        }
        guard hasState else {
            throw UsageError(
                message: "--alert-webhook requires --state, where alerts wait for the server",
                command: arguments.syntax.name)
        }
        do throws(AlertWebhookError) {
            let key = try arguments.value("alert-key").map { path throws(AlertWebhookError) in
                try WebhookKey(file: SecretFile(path, .key, option: "alert-key"))
            }
            webhook = try AlertWebhook(url, key: key, certificateAuthority: arguments.value("alert-ca"))
        } catch { throw CommandError(description: "--alert-webhook: \(error)") }
    }

    /// Reads the rules.
    ///
    /// - Throws: `CommandError` if the file can't be read or has an invalid rule.
    func rules(_ venue: Venue, _ register: TagRegister) throws -> AlertRules {
        let bytes: [UInt8]
        do { bytes = try BoundedFile.read(path, limit: InputLimits.standard.venueFile) } catch {
            throw CommandError(description: "--alerts \(path): \(error)")
        }
        do throws(TagFileError) {
            return try AlertRules(json: bytes, venue: venue, register: register)
        } catch { throw CommandError(description: "--alerts \(path): \(error)") }
    }
}
