import IndoorLocalization

/// The reference of all settings, generated from the package's registry.
enum SettingsReference {
    /// A setting with its texts.
    private struct Row {
        let key: String
        let type: String
        let range: String
        let unit: String
        let standard: String
        let summary: String
        let isOfVenue: Bool
        let preference: String

        init(_ entry: SettingsRegistry.Entry, _ standard: EffectiveSetting) {
            let setting = entry.setting
            key = setting.key
            type = setting.limits.typeName + (setting.isOptional ? " or null" : "")
            range = setting.limits.shortRange ?? ""
            unit = setting.unit
            self.standard = standard.value.summary
            summary = setting.summary
            isOfVenue = setting.scope == .venue
            preference = setting.preference?.summary ?? ""
        }
    }

    private static var rows: [Row] {
        zip(SettingsRegistry.standard.entries, SettingsStack().effective).map { Row($0, $1) }
    }

    /// The reference as text, two lines per setting.
    static var lines: String {
        rows.map { row in
            let range = row.range + (row.unit.isEmpty || row.range.isEmpty ? "" : " " + row.unit)
            let kind = range.isEmpty ? row.type : "\(row.type): \(range)"
            return "\(row.key)  \(kind); default \(row.standard)\n    \(row.summary)\n"
        }.joined()
    }

    /// The reference as the documentation's page in Markdown.
    static var page: String {
        var text = introduction
        for (title, note, prefixes) in groups {
            let members = rows.filter { row in
                prefixes.contains { $0.hasSuffix(".") ? row.key.hasPrefix($0) : row.key == $0 }
            }
            text += "\n### \(title)\n\n"
            if !note.isEmpty { text += note + "\n\n" }
            text += "| key | type | range | unit | default | venue | better | what it does |\n"
            text += "| --- | --- | --- | --- | --- | --- | --- | --- |\n"
            for row in members {
                let cells = [
                    "`\(row.key)`", row.type, row.range, row.unit, "`\(row.standard)`", row.isOfVenue ? "yes" : "",
                    row.preference, row.summary,
                ]
                text += "| " + cells.joined(separator: " | ") + " |\n"
            }
        }
        text += aliasIntroduction
        let aliases = SettingsRegistry.standard.aliases
        for alias in aliases where !isEarlierName(alias.key, of: alias.target) {
            text += "| `\(alias.key)` | `\(alias.target)` | \(alias.limits.shortRange ?? "") | \(alias.unit) |\n"
        }
        text += earlierIntroduction
        for alias in aliases where isEarlierName(alias.key, of: alias.target) {
            text += "| `\(alias.key)` | `\(alias.target)` |\n"
        }
        return text + conclusion
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
                "retryPause", "memoryTimeout", "positionFilter.",
            ]
        ),
        ("Finding the venue", "", ["venueSearch."]),
        ("Finding the floor", "", ["floor."]),
        ("Motion", "", ["motion."]),
        (
            "Positions", "",
            [
                "positioning.method", "positioning.particleFilter", "positioning.particleCount",
                "positioning.globalUpdateInterval", "positioning.recoveryShare", "positioning.levelShare",
                "positioning.priorShare", "positioning.radiusFloor", "positioning.radiusFactor",
                "positioning.radiusInflation", "positioning.testedBeacons",
            ]
        ),
        (
            "The measurement model", "Defaults were fitted to surveys; see <doc:PositioningModel>.",
            ["positioning.signal."]
        ),
        (
            "The measurement model of distances", "These settings apply to distances to anchors; see <doc:Ranges>.",
            ["positioning.ranges."]
        ),
        ("The motion model", "See <doc:PositioningModel>.", ["positioning.motion."]),
        ("Resampling of particles", "See <doc:PositioningAlone>.", ["positioning.resampling."]),
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
            ["scanner.rssiThreshold", "scanner.retryPause", "scanner.regions.", "scanner.rooms.", "scanner.ranging."]
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
        (
            "Accepted for compatibility",
            """
            Keys of the Nodle SDK that have no counterpart here. A file with these keys is accepted, and `config show` prints \
            why each of them has no effect. Keys that are not in this list and begin with `ble.eid.`, `ble.stat.`, `cell.`, `dtn.`, `id.`, \
            `iotee.`, `nodle.` or `wifi.` are accepted in the same way.
            """,
            [
                "ble.", "cell.", "core.", "cron.", "devkey", "dtn.", "heartbeat.background-mode",
                "heartbeat.resolution-h3", "id.", "location.", "nodle.",
            ]
        ),
    ]
}

// The text of the page around the tables.
extension SettingsReference {
    static let introduction = """
        # Configuration

        All settings of the package: their effect, allowed values, sources and precedence.

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
        | request | parts of the program | ``SettingsStack/request(_:_:)``: of several requests, the *better* one in the tables |
        | file | the user of the program | `SettingsFile`, `--settings FILE` |
        | remote | a server, for all its devices | `RemoteSettings` |
        | venue | the packet's `settings` | automatic, from entering a venue until it is lost |
        | default | the package | the tables |

        A source further up in the table takes precedence, in whatever order the values are given. Changes take effect
        with ``SettingsStack/apply()``; the venue's settings take effect at once. `override(key, nil)` removes the
        program's override and requests for a key; ``SettingsStack/clear()`` removes the values of all sources except
        server and venue. If the column *better* is empty, the last request applies.

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

        ## All settings

        The column *venue* shows whether a venue's packet may give the setting. The other settings are needed before a venue is
        known.

        """

    static let aliasIntroduction = """

        ### Keys of the Nodle SDK

        These keys are accepted wherever a key is, in the unit of that SDK, so that its configuration files can be used
        unchanged. The number of `cron.ios-bg-mode` is a ``PowerMode``. Without it the value is 2, as in that SDK, and
        the duty cycle is that of the `ble.scan` keys. If the program or a file gives `ble.scan` keys, they take
        precedence over a mode. The keys with `-ios-cl`, for that SDK's other scanner, apply if the same source doesn't
        give the keys without that suffix.

        | key | stands for | range | unit |
        | --- | --- | --- | --- |

        """

    static let earlierIntroduction = """

        ### Earlier names

        These keys of earlier versions of the package are still accepted.

        | key | new name |
        | --- | --- |

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
}
