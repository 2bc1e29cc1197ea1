/// The command `config keys`: lists the settings.
struct ConfigKeysCommand: Command {
    static let syntax = CommandSyntax(
        name: "config keys", summary: "list the settings with type, range, default and effect",
        details: """
            Prints two lines per public setting: key, type, range, unit and default, then the effect. With --all, prints
            the expert settings and the compatibility keys, too. An expert setting is a value of a model, and is
            unstable: its key, range and default may change or go in any release. --set and --settings accept all keys.
            With --markdown, prints the documentation's reference page.

            example: indoorloc config keys
            """,
        options: [
            CommandOption(name: "all", help: "list expert settings and compatibility keys, too"),
            CommandOption(name: "markdown", help: "print the documentation's reference page"),
        ])

    private let isPage: Bool
    private let isWhole: Bool

    init(_ arguments: ParsedArguments) {
        isPage = arguments.has("markdown")
        isWhole = arguments.has("all")
    }

    func run() throws {
        try StandardOutput.write(isPage ? SettingsReference.page : SettingsReference.lines(isWhole: isWhole))
    }
}
