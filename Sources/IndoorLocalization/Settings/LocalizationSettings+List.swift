extension LocalizationSettings {
    /// The settings of a session, each once.
    package static let list: [Setting<LocalizationSettings>] =
        [forcedVenueSetting, deviceSetting] + ownList
        + VenueSearchSettings.list.map { $0.within("venueSearch", \.venueSearch) }
        + PositionFilter.list.map { $0.within("positionFilter", \.positionFilter, .venue) }
        + FloorSettings.list.map { $0.within("floor", \.floor, .venue) }
        + DeadReckoningSettings.list.map { $0.within("motion", \.motion, .venue) }
        + PositioningSettings.list.map { $0.within("positioning", \.positioning, .venue) }

    private static let ownList: [Setting<LocalizationSettings>] = [
        .number(
            "rssiThreshold", \.rssiThreshold, in: -127...0, unit: "dBm", better: .smaller, scope: .venue,
            "Sightings weaker than this are not used; one exactly at the threshold is kept."),
        .duration(
            "positionInterval", \.positionInterval, from: .milliseconds(50), better: .smaller, scope: .venue,
            "Time between two positions."),
        .duration(
            "venueLostTimeout", \.venueLostTimeout, above: .zero, scope: .venue,
            "When the radio has listened for this long without a beacon of the venue, the venue is lost."),
        .duration(
            "areaDwell", \.areaDwell, from: .zero, scope: .venue,
            "How long a room or fence must hold before the device counts as in or out of it."),
        .duration(
            "fenceTimeout", \.fenceTimeout, from: .zero, scope: .venue,
            "After leaving a fence whose packet gives no timeout, entering it again is silent for this long."),
        .choice(
            "satellites", \.satellites, fromWorst: [.off, .lowAccuracy, .highAccuracy],
            "How far satellite positions are used: none, one in ten seconds, or all."),
        .duration(
            "retryPause", \.retryPause, above: .zero,
            "The first pause before a failed download or scan is tried again; it doubles up to a minute."),
        .duration(
            "memoryTimeout", \.memoryTimeout, from: .zero, scope: .venue,
            "What an earlier session remembered of the place counts for this long, the less the older."),
    ]

    private static let forcedVenueSetting = Setting<LocalizationSettings>(
        key: "forcedVenue", limits: .wholeNumber(0...9_007_199_254_740_991), unit: "", isOptional: true,
        preference: nil, scope: .session,
        summary: "The number of the only venue that is accepted; `null` accepts every known one.",
        read: { $0.forcedVenue.map { .number(Double($0.rawValue)) } ?? .none },
        write: { settings, value in
            if case .number(let number) = value {
                settings.forcedVenue = Int(exactly: number).map { VenueID(rawValue: $0) }
            } else {
                settings.forcedVenue = nil
            }
        },
        dependentLimits: nil)
}

extension LocalizationSettings {
    private static let deviceSetting = Setting<LocalizationSettings>(
        key: "device", limits: .text, unit: "", isOptional: true, preference: nil, scope: .session,
        summary: "The model of this device, as headers of recordings name it: where the survey was made with one, too, "
            + "a session begins with how it hears. `null` expects any receiver.",
        read: { $0.device.map(SettingValue.text) ?? .none },
        write: { settings, value in
            if case .text(let name) = value { settings.device = name } else { settings.device = nil }
        },
        dependentLimits: nil)
}

extension VenueSearchSettings {
    /// The settings of the search for a venue, each once.
    package static let list: [Setting<VenueSearchSettings>] = [
        .duration("window", \.window, above: .zero, "Sightings older than this no longer speak for a venue."),
        .number(
            "lead", \.lead, in: 1...1000,
            "A venue whose beacons are this many times as strong, as a sum of amplitudes, as any other's leads."),
        .duration(
            "contestedTime", \.contestedTime, from: .zero,
            "While several venues are heard, one must lead for this long to be chosen."),
        .duration(
            "takeoverTime", \.takeoverTime, from: .zero,
            "While in a venue, another one must lead for this long to take over."),
        .wholeNumber(
            "takeoverBeacons", \.takeoverBeacons, in: 1...1000,
            "While a beacon of the venue is heard well, so many of another one must be heard for it to take over."),
        .number(
            "gnssAccuracy", \.gnssAccuracy, in: 0...10_000, unit: "m",
            "A satellite position counts only with a 68 % radius of at most this."),
        .wholeNumber("gnssCount", \.gnssCount, in: 1...1000, "So many satellite positions in a row must agree."),
        .duration(
            "gnssSilence", \.gnssSilence, from: .zero,
            "Satellites speak only if no beacon of the venue was heard well for this long."),
        .number(
            "gnssRSSILimit", \.gnssRSSILimit, in: -127...0, unit: "dBm",
            "Weaker sightings don't contradict satellites that see the device outside."),
        .number(
            "gnssSearchRadius", \.gnssSearchRadius, in: 0...100_000, unit: "m",
            "Satellites find the nearest venue within this distance, also where the device is not in it."),
        .number(
            "gnssFarDistance", \.gnssFarDistance, in: 0...10_000_000, unit: "m",
            "Satellites that see the device this far outside of a venue contradict its beacons, however strong."),
        .flag(
            "isLockedIndoors", \.isLockedIndoors,
            "Whether satellites never tell that the device is outdoors, nor which venue it is in."),
        .number(
            "outdoorAccuracy", \.outdoorAccuracy, in: 0...10_000, unit: "m",
            "Outdoors, satellite positions with a 68 % radius of at most this are told."),
    ]
}

extension PositionFilter {
    /// The settings of the filter, each once.
    package static let list: [Setting<PositionFilter>] = [
        .number(
            "distance", \.distance, in: 0...10_000_000, unit: "m",
            "A position this far from the one told last is told; 0 takes no account of the distance."),
        .duration(
            "time", \.time, from: .zero,
            "A position this much later than the one told last is told; 0 s takes no account of the time."),
        .number(
            "heading", \.heading, in: 0...180, unit: "°",
            "A position whose course differs so much from the one told last is told; 0 takes no account of the course."),
    ]
}

extension FloorSettings {
    /// The settings of the floor's decision, each once.
    package static let list: [Setting<FloorSettings>] = [
        .number(
            "settleProbability", \.settleProbability, in: 0.5...1, "A floor this probable is taken at once."),
        .duration(
            "patience", \.patience, from: .zero,
            "After this long the most probable floor is taken, however unsure."),
        .number(
            "switchProbability", \.switchProbability, in: 0.5...1,
            "Another floor must be this probable to take over."),
        .duration("switchTime", \.switchTime, from: .zero, "It must stay so probable for this long."),
    ]
}
