import IndoorLocalization

/// The list of all settings as text, made from the one that the package itself uses.
enum SettingsReference {
    /// A setting as the list tells it.
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

    /// Two lines a setting.
    static var lines: String {
        rows.map { row in
            let range = row.range + (row.unit.isEmpty || row.range.isEmpty ? "" : " " + row.unit)
            let kind = range.isEmpty ? row.type : "\(row.type): \(range)"
            return "\(row.key)  \(kind); default \(row.standard)\n    \(row.summary)\n"
        }.joined()
    }

    /// The page of the documentation.
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
        for alias in SettingsRegistry.standard.aliases {
            text += "| `\(alias.key)` | `\(alias.target)` | \(alias.limits.shortRange ?? "") | \(alias.unit) |\n"
        }
        return text + conclusion
    }

    /// Every setting that no group names is missing from the page; the test of the page finds it.
    static var keysOfGroups: [String] {
        rows.map(\.key).filter { key in
            groups.contains { $0.2.contains { $0.hasSuffix(".") ? key.hasPrefix($0) : key == $0 } }
        }
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
        ("Which venue", "", ["venueSearch."]),
        ("Which floor", "", ["floor."]),
        ("Motion", "", ["motion."]),
        (
            "Positions", "",
            [
                "positioning.method", "positioning.particleFilter", "positioning.particleCount",
                "positioning.globalUpdateInterval", "positioning.recoveryShare", "positioning.levelShare",
                "positioning.priorShare", "positioning.radiusFloor", "positioning.radiusFactor",
                "positioning.radiusInflation",
            ]
        ),
        ("The measurement model", "Found on surveys; see <doc:PositioningModel>.", ["positioning.signal."]),
        ("The motion model", "See <doc:PositioningModel>.", ["positioning.motion."]),
        ("How particles are drawn anew", "See <doc:PositioningAlone>.", ["positioning.resampling."]),
        (
            "When the radio scans",
            """
            Of effect on a ``BeaconScanner``, on a source made with ``ScanSource/dutyCycledBySettings(_:clock:)``, and on
            `indoorloc replay` and `indoorloc evaluate`, which leave out what the radio would have missed.
            """,
            ["scanner.powerMode", "scanner.dutyCycle.", "scanner.timing."]
        ),
        (
            "Scanning without positions", "Of a ``BeaconScanner``.",
            ["scanner.rssiThreshold", "scanner.retryPause", "scanner.regions.", "scanner.rooms.", "scanner.ranging."]
        ),
        (
            "Watched routes",
            """
            Of a watch that is given them: `localizer.routes(to: goal, with: planner, settings: stack.resolved.routes)`.
            """, ["routes."]
        ),
        ("Settings from a server", "", ["remote."]),
        (
            "Sharing with other devices", "Of effect on a ``PositionSharingPlugin``, and on the command line.",
            ["sharing."]
        ),
        (
            "Upload",
            "Of `--upload-url` of `indoorloc serve` and `scan`, and of a `RecordUploader`; see <doc:UploadingRecords>.",
            ["upload."]
        ),
        (
            "Heartbeats", "Of `indoorloc serve`, and of a ``HeartbeatHistory``.",
            ["heartbeat.interval", "heartbeat.history"]
        ),
        (
            "Accepted for files of others",
            """
            Keys of the Nodle SDK that nothing here needs. A file that has them is read, and `config show` tells of each why \
            it has no effect. Keys that are not in this list and begin with `ble.eid.`, `ble.stat.`, `cell.`, `dtn.`, `id.`, \
            `iotee.`, `nodle.` or `wifi.` are accepted in the same way.
            """,
            [
                "ble.", "cell.", "core.", "cron.", "devkey", "dtn.", "heartbeat.background-mode",
                "heartbeat.resolution-h3", "id.", "location.", "nodle.",
            ]
        ),
    ]
}
