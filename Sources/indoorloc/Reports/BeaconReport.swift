import IndoorLocalization
import VenuePackets
import TextFormats

/// The trends of a venue's beacons, in words or as JSON.
struct BeaconReport {
    private let trends: [BeaconTrend]
    private let days: [Int]
    private let names: BeaconNames
    private let maps: [MapID: String]
    private let corrections: [BeaconIdentity: Double]

    /// - Parameter following: what sessions with `--follow-drift` have followed until now.
    init(_ history: BeaconHistory, venue: Venue, following: LevelFollowing = LevelFollowing()) {
        trends = history.trends()
        var following = following
        following.follow(trends)
        corrections = venue.usable(following.corrections)
        days = history.knownDays
        names = BeaconNames(venue)
        maps = Dictionary(venue.maps.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
    }

    /// A line about the history, a table, and a line for each beacon with advice.
    var lines: [String] {
        guard let first = days.first, let last = days.last else { return ["no day with levels"] }
        let advised = trends.filter { $0.advice != nil }
        let need =
            advised.isEmpty
            ? "no beacon needs work"
            : advised.count == 1 ? "1 beacon needs work" : "\(advised.count) beacons need work"
        let rows = trends.map { trend in
            [
                names.name(of: trend.beacon), "\(trend.days.count)",
                JSONText.number(trend.days.reduce(0) { $0 + $1.readings }, decimals: 0), share(of: trend),
                trend.latestLevel.map { JSONText.number($0, decimals: 1) } ?? "-",
                corrections[trend.beacon].map { JSONText.number($0, decimals: 1) } ?? "-", trend.words,
            ]
        }
        return [
            "\(days.count.counting("day")) from \(DayText.text(first)) to \(DayText.text(last)), "
                + "\(trends.count.counting("beacon")); \(need)"
        ] + TextTable.lines([["beacon", "days", "readings", "received", "level", "correction", "change"]] + rows)
            + advised.compactMap { trend in words(advice: trend).map { "\(names.name(of: trend.beacon)): \($0)" } }
    }

    /// The same figures as one JSON object.
    var json: JSONText {
        var json = JSONText()
        json.add("from", days.first.map(DayText.text))
        json.add("to", days.last.map(DayText.text))
        json.add("days", days.count)
        json.add("beacons", trends.map(json(of:)))
        return json
    }

    private func json(of trend: BeaconTrend) -> JSONText {
        var json = JSONText()
        json.add("beacon", trend.beacon.description)
        json.add("name", names.name(of: trend.beacon))
        json.add("change", trend.kind)
        json.add("text", trend.words)
        switch trend.change {
        case .unknown, .steady: break
        case .drift(let since, let perWeek, let error, let total):
            json.add("since", DayText.text(since))
            json.add("perWeek", perWeek, decimals: 2)
            json.add("standardError", error, decimals: 2)
            json.add("total", total, decimals: 1)
        case .step(let day, let difference, let error, let cause):
            json.add("since", DayText.text(day))
            json.add("difference", difference, decimals: 1)
            json.add("standardError", error, decimals: 1)
            json.add("cause", cause.rawValue)
        case .changed(let since, let difference, let error):
            json.add("since", DayText.text(since))
            json.add("difference", difference, decimals: 1)
            json.add("standardError", error, decimals: 1)
        case .faint(let share): json.add("received", share, decimals: 2)
        case .silent(let since): json.add("since", since.map(DayText.text))
        }
        json.add("correction", corrections[trend.beacon], decimals: 1)
        json.add("advice", trend.advice?.rawValue)
        json.add("adviceText", words(advice: trend))
        json.add("looks", trend.looks, decimals: 1)
        json.add("heard", trend.heard, decimals: 1)
        json.add(
            "levels",
            trend.days.map { day in
                var json = JSONText()
                json.add("day", DayText.text(day.day))
                json.add("level", day.level, decimals: 2)
                json.add("standardError", day.standardError, decimals: 2)
                json.add("readings", day.readings, decimals: 1)
                return json
            })
        return json
    }

    private func share(of trend: BeaconTrend) -> String {
        trend.looks > 0 ? JSONText.number(trend.heard / trend.looks * 100, decimals: 0) + " %" : "-"
    }

    /// The advice for a beacon in words; nil if nothing is to be done.
    private func words(advice trend: BeaconTrend) -> String? {
        let place = trend.area.map { area in
            func metres(_ range: ClosedRange<Double>) -> String {
                "\(Int(range.lowerBound)) to \(Int(range.upperBound)) m"
            }
            let map = PrintableText.line(maps[area.mapID] ?? "map \(area.mapID)")
            return " (\(map), x \(metres(area.x)), y \(metres(area.y)))"
        }
        return switch trend.advice {
        case nil: nil
        case .replaceBattery: "replace the battery"
        case .lookAtBeacon: "look whether the beacon is in its place, uncovered, and has a good battery"
        case .lookWhetherMoved:
            "look whether the beacon was moved; if so, correct its place and survey again\(place ?? "")"
        case .surveyAgain: "survey again\(place ?? " around the beacon")"
        }
    }
}

extension BeaconTrend {
    /// The days whose mean is the present level.
    private static let latestDays = 7

    /// The mean difference from the expected level in the latest days, in dB; nil without a day.
    var latestLevel: Double? {
        guard let last = days.last?.day else { return nil }
        let recent = days.filter { $0.day > last - Self.latestDays }
        let weights = recent.map { 1 / ($0.standardError * $0.standardError) }
        return zip(recent, weights).reduce(0) { $0 + $1.0.level * $1.1 } / weights.reduce(0, +)
    }

    /// The kind of the change, for JSON.
    fileprivate var kind: String {
        switch change {
        case .unknown: "unknown"
        case .steady: "steady"
        case .drift: "drift"
        case .step: "step"
        case .changed: "changed"
        case .faint: "faint"
        case .silent: "silent"
        }
    }

    /// The change in words.
    var words: String {
        switch change {
        case .unknown: "too few days"
        case .steady: "none"
        case .drift(let since, let perWeek, let error, let total):
            "\(perWeek < 0 ? "falls" : "rises") by \(Self.decibels(perWeek.magnitude, error)) a week since "
                + "\(DayText.text(since)), by \(Self.decibels(total.magnitude)) in all"
        case .step(let day, let difference, let error, let cause):
            "\(difference < 0 ? "weaker" : "stronger") by \(Self.decibels(difference.magnitude, error)) since "
                + "\(DayText.text(day))\(Self.words(cause))"
        case .changed(let since, let difference, let error):
            "\(difference < 0 ? "weaker" : "stronger") by \(Self.decibels(difference.magnitude, error)) since about "
                + "\(DayText.text(since)), slowly or suddenly"
        case .faint(let share):
            "received in \(JSONText.number(share * 100, decimals: 0)) % of the expected looks of two weeks"
        case .silent(let since): since.map { "not received since \(DayText.text($0))" } ?? "never received"
        }
    }

    private static func words(_ cause: Cause) -> String {
        switch cause {
        case .power: ", alike at all places"
        case .moved: ", stronger at some places and weaker at others"
        case .shadowed: ", at some places only"
        case .unknown: ", the cause isn't known yet"
        }
    }

    private static func decibels(_ value: Double, _ error: Double? = nil) -> String {
        JSONText.number(value, decimals: 1) + (error.map { " ± " + JSONText.number($0, decimals: 1) } ?? "") + " dB"
    }
}

/// The dates of days that are numbered from 1 January 1970.
enum DayText {
    /// Returns a date such as 2026-03-01.
    static func text(_ day: Int) -> String {
        let time = CivilTime(UnixTime(milliseconds: Int64(clamping: day) * 86_400_000))
        return
            "\(FixedDecimals.padded(time.year, 4))-\(FixedDecimals.padded(time.month, 2))-\(FixedDecimals.padded(time.day, 2))"
    }
}
