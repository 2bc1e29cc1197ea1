import IndoorLocalization
import SecretFiles
import VenuePackets

/// A web server given by a group of options, with its credentials.
struct WebServerOption {
    /// The prefix of the group's options, such as `upload` in `--upload-url`.
    let prefix: String
    /// The option for a file with user and password; nil if the group has none.
    var passwordOption: String?
    /// The option that allows unencrypted credentials; nil if the group has none.
    var plainOption: String?

    init(_ prefix: String, passwordOption: String? = nil, plainOption: String? = nil) {
        self.prefix = prefix
        self.passwordOption = passwordOption
        self.plainOption = plainOption
    }

    /// Returns the server at a URL.
    ///
    /// - Throws: `UsageError` if the options are invalid, or the error of a credentials file.
    func server(_ url: String, _ arguments: ParsedArguments) throws -> VenueServer {
        let command = arguments.syntax.name
        let tokenFile = arguments.secretFile(prefix + "-token-file", .token)
        let userFile = passwordOption.flatMap { arguments.secretFile($0, .login) }
        if tokenFile != nil, userFile != nil {
            let message = "--\(prefix)-token-file and --\(passwordOption ?? "") can't be combined"
            throw UsageError(message: message, command: command)
        }
        do throws(VenueRepositoryError) { _ = try VenueServer(url) } catch {
            throw UsageError(message: "--\(prefix)-url: \(error)", command: command)
        }
        let allowsPlain = plainOption.map(arguments.has) ?? false
        let credentials = try VenueServerOptions.credentials(tokenFile: tokenFile, userFile: userFile)
        if credentials != nil, VenueServer.sendsInTheClear(to: url) {
            guard allowsPlain else {
                let advice = plainOption.map { ", or allow it with --\($0)" } ?? ""
                throw UsageError(
                    message: "--\(prefix)-url: http sends the credentials unencrypted; use https\(advice)",
                    command: command)
            }
            StandardError.write(
                "indoorloc: warning: the credentials are sent over http, unencrypted\n")
        }
        return try VenueServer(
            url, credentials: credentials, certificateAuthority: arguments.value(prefix + "-ca"),
            allowsPlainCredentials: allowsPlain)
    }
}
