import IndoorLocalization
import VenuePackets

/// A web server that a group of options names, with what lets this device in there.
struct WebServerOption {
    /// What the group's options begin with, as in `--upload-url`.
    let prefix: String
    /// The option of a file with user and password; nil if there is none.
    var passwordOption: String?
    /// The option that allows credentials in the clear; nil if there is none.
    var plainOption: String?

    init(_ prefix: String, passwordOption: String? = nil, plainOption: String? = nil) {
        self.prefix = prefix
        self.passwordOption = passwordOption
        self.plainOption = plainOption
    }

    /// The server at an address.
    ///
    /// - Throws: `UsageError` if it cannot be used, else what is wrong with a file.
    func server(_ url: String, _ arguments: ParsedArguments) throws -> VenueServer {
        let command = arguments.syntax.name
        let tokenFile = arguments.value(prefix + "-token-file")
        let userFile = passwordOption.flatMap(arguments.value)
        if tokenFile != nil, userFile != nil {
            let message = "--\(prefix)-token-file and --\(passwordOption ?? "") contradict each other"
            throw UsageError(message: message, command: command)
        }
        do throws(VenueRepositoryError) { _ = try VenueServer(url) } catch {
            throw UsageError(message: "--\(prefix)-url: \(error)", command: command)
        }
        let allowsPlain = plainOption.map(arguments.has) ?? false
        let credentials = try VenueServerOptions.credentials(tokenFile: tokenFile, userFile: userFile)
        if credentials != nil, VenueServer.sendsInTheClear(to: url) {
            guard allowsPlain else {
                let advice = plainOption.map { ", or say --\($0)" } ?? ""
                throw UsageError(
                    message: "--\(prefix)-url: http would send the credentials unencrypted; use https\(advice)",
                    command: command)
            }
            StandardError.write(
                "indoorloc: warning: the credentials are sent over http unencrypted; others can read them\n")
        }
        return try VenueServer(
            url, credentials: credentials, certificateAuthority: arguments.value(prefix + "-ca"),
            allowsPlainCredentials: allowsPlain)
    }
}
