extension ScannerSettings {
    /// The settings of a scanner, each once.
    package static let list: [Setting<ScannerSettings>] =
        DutyCycle.list.map { $0.within("dutyCycle", \.dutyCycle, .venue) }
        + ScanTiming.list.map { $0.within("timing", optional: \.timing, standard: .whole) }
        + [thresholdSetting]
        + RegionSettings.list.map { $0.within("regions", \.regions) }
        + RoomSettings.list.map { $0.within("rooms", \.rooms) }
        + Ranger.Settings.list.map { $0.within("ranging", \.ranging) }
        + [retrySetting]

    private static let thresholdSetting = Setting<ScannerSettings>.number(
        "rssiThreshold", \.rssiThreshold, in: -127...0, unit: "dBm", better: .smaller,
        "Beacons heard weaker than this are ignored; one exactly at the threshold is kept.")
    private static let retrySetting = Setting<ScannerSettings>.duration(
        "retryPause", \.retryPause, above: .zero,
        "The pause before a scan that failed is tried again; later ones double up to a minute.")
}

extension DutyCycle {
    /// The settings of a duty cycle, each once.
    package static let list: [Setting<DutyCycle>] = [
        .duration(
            "scanDuration", \.scanDuration, from: .milliseconds(10), better: .greater, "How long one pass takes."),
        .duration(
            "interval", \.interval, from: .zero, better: .smaller, "How long the radio rests between two passes."),
        .number(
            "intervalFactor", \.intervalFactor, in: 0...1000, better: .smaller,
            "What the rest between two passes is multiplied by."),
        .flag(
            "isContinuous", \.isContinuous, better: true,
            "Whether there is a single pass without an end; the other settings are then of no effect."),
    ]
}

extension ScanTiming {
    /// The settings of a radio's timing, each once.
    package static let list: [Setting<ScanTiming>] = [
        .duration(
            "interval", \.interval, from: allowed.lowerBound, to: allowed.upperBound, scope: .venue,
            "The time from the beginning of one listening window to that of the next one; `null` leaves it to the source."
        ),
        .duration(
            "window", \.window, from: allowed.lowerBound, to: allowed.upperBound, scope: .venue,
            "How long the radio listens within each interval, at most all of it; `null` leaves it to the source.",
            beside: { allowed.lowerBound...max(allowed.lowerBound, $0.interval) }),
    ]
}

extension RoomSettings {
    /// The settings of changes of room, each once.
    package static let list: [Setting<RoomSettings>] = [
        .choice(
            "changeRule", \.changeRule, fromWorst: [.immediate, .inARow, .bestOf],
            "When a change of room is believed: at once, told several times in a row, or most often of the last times."),
        .wholeNumber(
            "changeCount", \.changeCount, in: 1...100, better: .greater,
            "How many estimates that rule looks at; of no effect on `immediate`."),
    ]
}

extension RegionSettings {
    /// The settings of regions, each once.
    package static let list: [Setting<RegionSettings>] = [
        .duration(
            "exitTimeout", \.exitTimeout, above: .zero,
            "A region is left when none of its beacons was heard for this long, while the radio heard."),
        .number(
            "enterRSSI", \.enterRSSI, in: -127...0, unit: "dBm", "A region is entered at this smoothed RSSI, or above."),
        .number(
            "exitRSSI", \.exitRSSI, in: -127...0, unit: "dBm",
            "A region is not left as long as a beacon is heard at this smoothed RSSI, or above; at most `enterRSSI`.",
            beside: { -127...max(-127, $0.enterRSSI) }),
        .duration(
            "rangingInterval", \.rangingInterval, from: .milliseconds(100), better: .smaller,
            "Time between two rangings of a region's beacons."),
    ]
}

extension Ranger.Settings {
    /// The settings of ranging, each once.
    package static let list: [Setting<Ranger.Settings>] = [
        .duration("silence", \.silence, above: .zero, "A beacon that was silent for this long is forgotten."),
        .number(
            "exponent", \.exponent, in: 0.5...10, "Path-loss exponent of beacons without a model of their own."),
        .number(
            "shadowing", \.shadowing, in: 0...50, unit: "dB", "Shadowing of beacons without a model of their own."),
        .number(
            "filter.measurementDeviation", \.filter.measurementDeviation, in: 0.01...50, unit: "dB",
            "Standard deviation of a single measurement."),
        .number(
            "filter.driftPerSecond", \.filter.driftPerSecond, in: 0.001...50, unit: "dB",
            "How far the true RSSI wanders in a second, as a standard deviation."),
        .number(
            "filter.outlierLimit", \.filter.outlierLimit, in: 0.1...1000,
            "Innovations beyond this many standard deviations are weighted down to that many."),
    ]
}
