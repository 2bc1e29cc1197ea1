/// Lists all settings.
struct ConfigKeysCommand: Command {
    static let syntax = CommandSyntax(
        name: "config keys", summary: "list every setting: type, range, default and what it does",
        details: """
            Prints two lines a setting: key, type, range, unit and default, then what it does. With --markdown the
            reference page of the documentation.

            example: indoorloc config keys
            """,
        options: [CommandOption(name: "markdown", help: "print the page of the documentation")])

    private let isPage: Bool

    init(_ arguments: ParsedArguments) { isPage = arguments.has("markdown") }

    func run() throws { try StandardOutput.write(isPage ? SettingsReference.page : SettingsReference.lines) }
}
