/// The command `config keys`: lists all settings.
struct ConfigKeysCommand: Command {
    static let syntax = CommandSyntax(
        name: "config keys", summary: "list all settings with type, range, default and effect",
        details: """
            Prints two lines per setting: key, type, range, unit and default, then the effect. With --markdown, prints
            the documentation's reference page.

            example: indoorloc config keys
            """,
        options: [CommandOption(name: "markdown", help: "print the documentation's reference page")])

    private let isPage: Bool

    init(_ arguments: ParsedArguments) { isPage = arguments.has("markdown") }

    func run() throws { try StandardOutput.write(isPage ? SettingsReference.page : SettingsReference.lines) }
}
