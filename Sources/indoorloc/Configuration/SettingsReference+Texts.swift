// What stands on the page of the documentation around the tables.
extension SettingsReference {
    static let introduction = """
        # Configuration

        Every setting of the package: what it does, what it may be, who may give it, and who wins.

        ## Overview

        Settings are values of Swift structs, ``LocalizationSettings`` and ``ScannerSettings``, and nothing more is needed to
        set them in code. ``SettingsStack`` puts several sources on top of each other, and tells of each value where it
        comes from:

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

        ### Who wins

        | source | who gives it | how |
        | --- | --- | --- |
        | override | the program | ``SettingsStack/override(_:_:place:)``, or a struct's value that is not the default |
        | request | parts of the program | ``SettingsStack/request(_:_:)``: of several, the better one, as the tables say |
        | file | whoever runs the program | `SettingsFile`, `--settings FILE` |
        | remote | a server, for all its devices | `RemoteSettings` |
        | venue | the packet's `settings` | by itself, from entering a venue until it is lost |
        | default | the package | the tables |

        A source further up wins, whenever it came. Nothing takes effect before ``SettingsStack/apply()``, but the venue's
        settings, which do at once. `override(key, nil)` takes back what was set and requested by the program;
        ``SettingsStack/clear()`` takes back all but server and venue. Requests are compared with each other, not with other
        sources; where the column *better* is empty, the last one counts.

        A wrong key or value is never taken: a ``SettingsProblem`` names it with its file and line or its JSON path, with what
        is allowed, or with the nearest key that there is. Whatever else the source gives is taken. A venue with a wrong
        setting is located in all the same: it is a warning of the packet, which `indoorloc venue check` finds before, and the
        problem comes on ``Localizer/errors``. Whoever calls the command line can mend the call: with a wrong key or value in
        `--settings` or `--set` it says so and does nothing.

        ``Localizer/setSettings(_:)`` changes settings while a session runs: threshold, intervals, time-outs and duty cycle at
        once; how the place, the floor and areas are found from the next venue on; how venues are told apart from the next
        start on.

        ### From a server

        `RemoteSettings` of `VenuePackets` asks a web server for a JSON document, at once and then every `remote.interval`, and
        fetches it only when it has changed. What it gave last counts until it gives something else: a server that is away or a
        broken document takes nothing away, and after a failure the pauses double up to a minute.

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

        ### How they are written

        JSON, with keys that are dotted, nested or mixed. Durations are in seconds.

        ```json
        {
          "positionInterval": 0.2,
          "positioning": { "method": "particle", "signal.beaconLimit": 8 },
          "scanner.dutyCycle": { "scanDuration": 10, "interval": 20 }
        }
        ```

        `indoorloc config show` prints what counts:

        ```
        indoorloc config show --venue office.zip --settings settings.json --set rssiThreshold=-85
        ```

        ### Who can follow a duty cycle while it scans

        A ``BeaconScanner``, by ``BeaconScanner/setSchedule(_:)``, and a source made with
        ``ScanSource/dutyCycledBySettings(_:clock:)``, which a ``Localizer`` tells the duty cycle that counts, also that of the
        venue. Both keep it from the next boundary on. A source made with ``ScanSource/dutyCycled(_:clock:)-(DutyCycle,_)`` keeps
        the one that it was made with, as it is set in code; and so does a bare radio, which scans all the time. A recording
        that such a source plays is not cut by settings; `indoorloc replay` and `indoorloc evaluate` cut one. While nobody gives a duty cycle, a localizer's radio does not rest, and the defaults below are
        those of a scanner.

        ## All settings

        *Venue* says whether a venue's packet may give the setting; the others count before a venue is known.

        """

    static let aliasIntroduction = """

        ### Keys of the Nodle SDK

        These are taken wherever a key is, in their own unit: a configuration file of that SDK works as it is. The number of
        `cron.ios-bg-mode` is a ``PowerMode``; until it is given it reads 2, as there, and the duty cycle is that of the
        `ble.scan` keys. Where the program or a file gives keys of `ble.scan`, these count, also beside a mode: file and
        program are one tree there, and a mode takes no key out of it. The keys of its other scanner, with `-ios-cl`, count
        where the same source does not give those without.

        | key | stands for | range | unit |
        | --- | --- | --- | --- |

        """

    static let conclusion = """

        ### Settings of the Nextome SDK

        | there | here |
        | --- | --- |
        | scan period (ms) | `scanner.dutyCycle.scanDuration` (s) |
        | between-scan period (ms) | `scanner.dutyCycle.interval` (s) |
        | RSSI threshold | `rssiThreshold`; a sighting exactly at it is kept, as there |
        | list size of beacons | `positioning.signal.readingLimit`: how many readings of one beacon count. There the \
        default is 12; here all readings of the last 4 s count. How many beacons count is \
        `positioning.signal.beaconLimit` |
        | method | `positioning.method` |
        | particle filter on or off | `positioning.particleFilter` |
        | event timeout | `fenceTimeout` (s), for fences without a timeout of their own |
        | forced venue | `forcedVenue` |

        """
}
