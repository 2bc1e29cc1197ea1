import IndoorLocalization

/// The reference of all settings, generated from the package's registry.
enum SettingsReference {
    /// A setting with its texts.
    private struct Row {
        let entry: SettingsRegistry.Entry
        let standard: String

        var key: String { entry.setting.key }

        /// The type, and the range with its unit.
        var values: String {
            let setting = entry.setting
            let range = setting.limits.shortRange ?? ""
            let unit = setting.unit.isEmpty || range.isEmpty ? "" : " " + setting.unit
            let type = setting.limits.typeName + (setting.isOptional ? " or null" : "")
            return range.isEmpty ? type : "\(type): \(range)\(unit)"
        }

        /// The range with its unit; the type only if it isn't a number.
        var shortValues: String {
            let kinds = ["number: ", "text: "]
            return kinds.first(where: values.hasPrefix).map { String(values.dropFirst($0.count)) } ?? values
        }

        /// Whether the setting may be in a venue, and the better value.
        var marks: String {
            let better = entry.setting.preference.map { ["better: \($0.summary)"] } ?? []
            return ((entry.setting.scope == .venue ? ["venue"] : []) + better).joined(separator: "; ")
        }
    }

    private static var rows: [Row] {
        zip(SettingsRegistry.standard.entries, SettingsStack().effective).map { entry, effective in
            Row(entry: entry, standard: effective.value.summary)
        }
    }

    /// The public settings as text, two lines per setting.
    ///
    /// - Parameter isWhole: whether expert settings and compatibility keys are listed, too.
    static func lines(isWhole: Bool) -> String {
        rows.filter { isWhole || $0.entry.isPublic }.map { row in
            let setting = row.entry.setting
            let note = setting.stability.origin == nil ? "" : "; expert: may change or go in any release"
            return "\(row.key)  \(row.values); default \(row.standard)\(note)\n    \(setting.summary)\n"
        }.joined()
    }

    /// The reference as the documentation's page in Markdown.
    static var page: String {
        let rows = rows
        var text = introduction
        for (title, note, prefixes) in groups {
            let members = rows.filter { row in
                row.entry.isPublic
                    && prefixes.contains { $0.hasSuffix(".") ? row.key.hasPrefix($0) : row.key == $0 }
            }
            text += "\n### \(title)\n\n"
            if !note.isEmpty { text += note + "\n\n" }
            text += table(
                ["key", "values", "default", "", "what it does"],
                members.map { ["`\($0.key)`", $0.shortValues, "`\($0.standard)`", $0.marks, $0.entry.setting.summary] })
        }
        let aliases = SettingsRegistry.standard.aliases
        text += aliasIntroduction
        text += table(
            ["key", "stands for", "values"],
            aliases.filter { !isEarlierName($0.key, of: $0.target) }.map { alias in
                let range = [alias.limits.shortRange ?? "", alias.unit].filter { !$0.isEmpty }
                return ["`\(alias.key)`", "`\(alias.target)`", range.joined(separator: " ")]
            })
        text += keptIntroduction + keptTable(rows) + earlierIntroduction
        text += table(
            ["key", "new name"],
            aliases.filter { isEarlierName($0.key, of: $0.target) }.map { ["`\($0.key)`", "`\($0.target)`"] })
        return text + conclusion + expertIntroduction + expertTable(rows)
    }

    /// The expert settings with their defaults, by the beginning of their keys and by what chose the defaults.
    private static func expertTable(_ rows: [Row]) -> String {
        let origins = DefaultOrigin.allCases.map { "- `\($0.rawValue)`: \($0.summary)\n" }.joined()
        var groups: [(prefix: String, origin: DefaultOrigin, settings: [String])] = []
        for row in rows {
            guard let origin = row.entry.setting.stability.origin else { continue }
            let name = row.key.split(separator: ".").last.map(String.init) ?? row.key
            let prefix = String(row.key.dropLast(name.count))
            let unit = row.entry.setting.unit
            let setting = "`\(name)` \(row.standard)" + (unit.isEmpty ? "" : " " + unit)
            if let index = groups.firstIndex(where: { $0.prefix == prefix && $0.origin == origin }) {
                groups[index].settings.append(setting)
            } else {
                groups.append((prefix, origin, [setting]))
            }
        }
        let cells = groups.map { group in
            [
                group.prefix.isEmpty ? "" : "`\(group.prefix)`", group.settings.joined(separator: ", "),
                group.origin.rawValue,
            ]
        }
        return origins + "\n" + table(["keys begin with", "and end with; default", "chosen by"], cells)
    }

    /// The compatibility keys, by the reason that they have no effect.
    private static func keptTable(_ rows: [Row]) -> String {
        var reasons: [(reason: String, keys: [String])] = []
        for row in rows {
            guard case .kept(_, let reason) = row.entry.role else { continue }
            if let index = reasons.firstIndex(where: { $0.reason == reason }) {
                reasons[index].keys.append(row.key)
            } else {
                reasons.append((reason, [row.key]))
            }
        }
        let cells = reasons.map { reason, keys in
            [keys.map { "`\($0)`" }.joined(separator: ", "), reason]
        }
        return table(["keys", "why they have no effect"], cells)
    }

    private static func table(_ head: [String], _ rows: [[String]]) -> String {
        ([head, head.map { _ in "---" }] + rows).map { "| " + $0.joined(separator: " | ") + " |\n" }.joined()
    }

    /// Whether a key is an earlier name of a setting: other SDKs have other groups of settings.
    private static func isEarlierName(_ key: String, of setting: String) -> Bool {
        key.prefix { $0 != "." } == setting.prefix { $0 != "." }
    }

    private static let groups: [(String, String, [String])] = [
        (
            "The session", "",
            [
                "forcedVenue", "device", "rssiThreshold", "positionInterval", "venueLostTimeout", "areaDwell",
                "fenceTimeout", "satellites",
                "memoryTimeout", "positionFilter.",
            ]
        ),
        ("Finding the venue", "", ["venueSearch."]),
        ("Motion", "", ["motion."]),
        (
            "Positions",
            "<doc:PositioningModel> describes the model, <doc:Ranges> distances, <doc:PositioningAlone> resampling.",
            ["positioning."]
        ),
        (
            "Scan timing",
            """
            These settings affect a ``BeaconScanner`` and the radio of a ``Localizer``, if they are given.
            `indoorloc replay` and `indoorloc evaluate` skip the readings that the radio would have missed.
            """,
            ["scanner.powerMode", "scanner.dutyCycle.", "scanner.timing."]
        ),
        (
            "Scanning without positions", "These settings affect a ``BeaconScanner``.",
            ["scanner.rssiThreshold", "scanner.regions.", "scanner.rooms.", "scanner.ranging."]
        ),
        (
            "Route tracking",
            """
            Pass these settings to the route stream:
            `localizer.routes(to: goal, with: planner, settings: stack.resolved.routes)`.
            """, ["routes."]
        ),
        ("Settings from a server", "", ["remote."]),
        (
            "Sharing with other devices", "These settings affect a ``PositionSharingPlugin`` and the command line.",
            ["sharing."]
        ),
        (
            "Upload",
            "These settings affect `--upload-url` of `indoorloc serve` and `scan`, and a `RecordUploader`; see <doc:UploadingRecords>.",
            ["upload."]
        ),
        (
            "Heartbeats", "These settings affect `indoorloc serve` and a ``HeartbeatHistory``.",
            ["heartbeat.interval", "heartbeat.history"]
        ),
    ]
}

// The text of the page around the tables.
extension SettingsReference {
    static let introduction = """
        # Configuration

        The settings of the package: their effect, allowed values, sources and precedence.

        ## Overview

        In code, settings are properties of ``LocalizationSettings`` and ``ScannerSettings``. ``SettingsStack`` combines
        several sources of settings, and reports the source of each value:

        ```swift
        import IndoorLocalization
        import VenuePackets

        func localizer(on radio: some ScanSource, in venues: some VenueSource) throws -> Localizer {
            var settings = SettingsStack()
            let file = try SettingsFile(path: "/etc/indoorloc/settings.json")
            let problems = file.problems + settings.load(file.entries, from: .file)
            try settings.request("positionInterval", 0.2)
            try settings.override("positioning.method", "particle")
            settings.apply()
            for problem in problems { print(problem) }
            return Localizer(source: radio.dutyCycledBySettings(), venues: venues, settings: settings)
        }
        ```

        ### Precedence

        | source | given by | how |
        | --- | --- | --- |
        | override | the program | ``SettingsStack/override(_:_:place:)``, or a struct's property that differs from the default |
        | request | parts of the program | ``SettingsStack/request(_:_:)``: of several requests, the *better* one |
        | file | the user of the program | `SettingsFile`, `--settings FILE` |
        | remote | a server, for all its devices | `RemoteSettings` |
        | venue | the packet's `settings` | automatic, from entering a venue until it is lost |
        | default | the package | the tables |

        A source further up in the table takes precedence, in whatever order the values are given. Changes take effect
        with ``SettingsStack/apply()``; the venue's settings take effect at once. `override(key, nil)` removes the
        program's override and requests for a key; ``SettingsStack/clear()`` removes the values of all sources except
        server and venue. If no value is better, the last request applies.

        An invalid key or value is ignored. A ``SettingsProblem`` names it with its file and line or its JSON path, and
        with the allowed values or the nearest known key. A venue with an invalid setting still gives positions:
        `indoorloc venue check` prints a warning, and ``Localizer/errors`` reports the problem. The command line ends
        with an error if a key or value in `--settings` or `--set` is invalid.

        ``Localizer/setSettings(_:)`` changes settings while a session runs. Threshold, intervals, timeouts and duty cycle change
        at once. Settings of positioning, floors and areas change with the next venue. Settings of the venue search change with
        the next start.

        ### Settings from a server

        `RemoteSettings` of `VenuePackets` requests a JSON document from a web server, at once and then every `remote.interval`,
        and downloads it only if it has changed. The last settings stay in effect until the server gives others, even if it
        can't be reached or the document is invalid. After a failure the pause doubles, up to a minute.

        ```swift
        import IndoorLocalization
        import VenuePackets

        func follow(_ server: VenueServer, _ settings: SettingsStack, _ localizer: Localizer) async {
            var settings = settings
            let remote = RemoteSettings(server, path: "settings.json", pull: settings.resolved.remote)
            for await update in remote.updates() {
                switch update {
                case .settings(let entries):
                    for problem in settings.load(entries, from: .remote) { print(problem) }
                    settings.apply()
                    await localizer.setSettings(settings)
                case .failure(let error): print(error)
                }
            }
        }
        ```

        ### File format

        A settings file is JSON. Keys may be dotted, nested or mixed. Durations are in seconds.

        ```json
        {
          "positionInterval": 0.2,
          "positioning": { "method": "particle", "signal.beaconLimit": 8 },
          "scanner.dutyCycle": { "scanDuration": 10, "interval": 20 }
        }
        ```

        `indoorloc config show` prints the settings in effect:

        ```
        indoorloc config show --venue office.zip --settings settings.json --set rssiThreshold=-85
        ```

        ### Changing the duty cycle during a scan

        A ``BeaconScanner`` changes its duty cycle during a scan with ``BeaconScanner/setSchedule(_:)``. A ``Localizer`` sets
        the duty cycle of any live source, including that of the venue: the radio is off between two passes, and inertial
        sensors that ``CombinedSource`` adds go on. The new duty cycle begins at the next boundary. A running scan of a plain
        source begins again with it; one of a source made with ``ScanSource/dutyCycledBySettings(_:clock:)`` goes on.

        A source made with ``ScanSource/dutyCycled(_:clock:)-(DutyCycle,_)`` keeps the duty cycle that was set in code. A
        ``SharedScanSource`` can't rest for one of its readers: the localizer reports the setting on ``Localizer/errors``.
        Settings don't remove readings from a recording that a localizer plays; `indoorloc replay` and `indoorloc evaluate` do.
        If no source gives a duty cycle, a localizer's radio scans all the time, and the defaults below apply to a scanner only.

        ## Public and expert settings

        A *public* setting can be judged from what you see, such as an interval, a threshold or a timeout. Its key stays; the
        changelog announces a change. An *expert* setting is a value of a model. Measurements or estimates chose its default,
        and its key, range and default may change or go in any release. All sources accept both kinds. Expert settings have no
        property in the public API. `indoorloc` and `indoorloc venue check` print a note for each one in a file or a venue.

        ## Public settings

        The fourth column has *venue* if a venue's packet may give the setting. The other settings are needed before a venue
        is known. It also has the *better* of two values.

        """

    static let keptIntroduction = """

        These keys of the Nodle SDK are accepted and have no effect, and `config show` prints the reason. So are other keys that
        begin with `ble.eid.`, `ble.stat.`, `cell.`, `dtn.`, `id.`, `iotee.`, `nodle.` or `wifi.`


        """

    static let aliasIntroduction = """

        ### Keys of the Nodle SDK

        These keys are accepted wherever a key is, in the unit of that SDK, so that its configuration files can be used
        unchanged. The number of `cron.ios-bg-mode` is a ``PowerMode``. Without it the value is 2, as in that SDK, and
        the duty cycle is that of the `ble.scan` keys. If the program or a file gives `ble.scan` keys, they take
        precedence over a mode. The keys with `-ios-cl`, for that SDK's other scanner, apply if the same source doesn't
        give the keys without that suffix.


        """

    static let earlierIntroduction = """

        ### Earlier names

        These keys of earlier versions of the package are still accepted.


        """

    static let conclusion = """

        ### Settings of the Nextome SDK

        | Nextome | this package |
        | --- | --- |
        | scan period (ms) | `scanner.dutyCycle.scanDuration` (s) |
        | between-scan period (ms) | `scanner.dutyCycle.interval` (s) |
        | RSSI threshold | `rssiThreshold`; a sighting exactly at the threshold is kept, as in that SDK |
        | list size of beacons | `positioning.signal.readingLimit`: the number of readings used per beacon. In that SDK \
        the default is 12; here all readings of the last 4 s are used. The number of beacons used is \
        `positioning.signal.beaconLimit` |
        | method | `positioning.method` |
        | particle filter on or off | `positioning.particleFilter` |
        | event timeout | `fenceTimeout` (s), for fences without a timeout of their own |
        | forced venue | `forcedVenue` |

        """

    static let expertIntroduction = """

        ## Expert settings

        `indoorloc config keys --all` prints the effect and range of each. The last column is what chose the defaults:


        """
}
