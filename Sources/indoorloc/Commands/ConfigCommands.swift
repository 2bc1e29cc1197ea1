import IndoorLocalization
import VenuePackets

/// The command `config show`: prints the settings in effect and their sources.
struct ConfigShowCommand: Command {
    static let syntax = CommandSyntax(
        name: "config show", summary: "show settings with their values and sources",
        details: """
            Prints one line per public setting, and per other setting that a source gives: key, value, unit, source
            (default, venue, file or override), and the place in the source: file and line, or the path in venue.json.
            An expert setting, which may change or go in any release, is marked "expert". A key that is accepted only
            for compatibility is marked "accepted, no effect", with the reason. With --json, prints an array of objects
            with key, value, unit, source, place, noEffect and expert. Durations are in seconds.

            example: indoorloc config show --venue Fixtures/office --set positionInterval=0.2
            """,
        options: [
            CommandOption(
                name: "venue", argument: "V",
                help: "apply the settings of this venue packet: a folder, a zip file, or a venue.json"),
            .settings, .set, CommandOption(name: "given", help: "show only settings that a source gives"),
            CommandOption(name: "all", help: "show all settings, also expert settings and compatibility keys"),
            CommandOption(name: "json", help: "print JSON instead of lines"),
        ])

    private let venue: String?
    private let isJSON: Bool
    private let isShort: Bool
    private let isWhole: Bool
    private let settings: SettingsStack

    init(_ arguments: ParsedArguments) throws {
        venue = try arguments.input("venue")
        isJSON = arguments.has("json")
        isShort = arguments.has("given")
        isWhole = arguments.has("all")
        settings = try arguments.settings()
    }

    func run() throws {
        var settings = settings
        if let venue {
            for problem in settings.enter(try VenuePacketReader().read(venue).venue.settings) {
                StandardError.line("\(venue): \(problem)")
            }
        }
        let shown = settings.effective.filter { setting in
            setting.source != .default
                || !isShort && (isWhole || !setting.isExpert && setting.reasonOfNoEffect == nil)
        }
        try StandardOutput.write(isJSON ? Self.json(shown) : Self.table(shown))
    }

    private static func table(_ settings: [EffectiveSetting]) -> String {
        let rows = settings.map { setting in
            let source = setting.source.rawValue + (setting.place.map { " (\($0))" } ?? "")
            let note = setting.reasonOfNoEffect.map { "; accepted, no effect: \($0)" } ?? ""
            let expert = setting.isExpert ? "; expert" : ""
            return [setting.key, setting.value.summary, setting.unit, source + expert + note]
        }
        return TextTable.lines(rows).map { $0 + "\n" }.joined()
    }

    private static func json(_ settings: [EffectiveSetting]) -> String {
        let objects = settings.map { setting in
            var json = JSONText()
            json.add("key", setting.key)
            json.add("value", content: setting.value)
            json.add("unit", setting.unit.isEmpty ? nil : setting.unit)
            json.add("source", setting.source.rawValue)
            json.add("place", setting.place)
            json.add("noEffect", setting.reasonOfNoEffect)
            if setting.isExpert { json.add("expert", true) }
            return json.text
        }
        return "[" + objects.joined(separator: ",\n ") + "]\n"
    }
}

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
