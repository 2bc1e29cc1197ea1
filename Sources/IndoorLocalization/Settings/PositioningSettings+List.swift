extension PositioningSettings {
    /// The settings of the engine, each once.
    package static let list: [Setting<PositioningSettings>] =
        ownList
        + SignalModel.list.map { $0.within("signal", \.signal) }
        + MotionModel.list.map { $0.within("motion", \.motion) }
        + Resampling.list.map { $0.within("resampling", \.resampling) }

    private static let ownList: [Setting<PositioningSettings>] = [
        .choice(
            "method", \.method, fromWorst: [.trilateration, .fingerprint, .particle],
            "How the place is found: by a filter over time, or from the last seconds alone."),
        .wholeNumber(
            "particleCount", \.particleCount, in: 100...1_000_000, better: .greater, "Number of particles."),
        .number(
            "globalUpdateInterval", \.globalUpdateInterval, in: 0.1...60, unit: "s", better: .smaller,
            "Time between two looks at the whole venue for places that the filter may have lost."),
        .number(
            "recoveryShare", \.recoveryShare, in: 0...1, "Share of the particles that such a look replaces."),
        .number(
            "levelShare", \.levelShare, in: 0...10,
            "How much of the evidence counts for the level, as successive readings share their errors; 1 takes all of it."
        ),
        .number(
            "priorShare", \.priorShare, in: 0...10,
            "How much the expectation of places (survey, walkable areas) counts within a second."),
        .number(
            "radiusFloor", \.radiusFloor, in: 0...1000, unit: "m",
            "Error that remains even if the filter is certain."),
        .number(
            "radiusFactor", \.radiusFactor, in: 0...100,
            "What the spread of the particles is multiplied with to give a radius."),
        .number(
            "radiusInflation", \.radiusInflation, in: 0...100,
            "How soon a belief that disagrees with the last seconds' evidence gets a larger radius; 0 is never."),
    ]
}

extension SignalModel {
    /// The numbers of the measurement model, each once.
    package static let list: [Setting<SignalModel>] = pathLossList + readingList + rateList

    private static let pathLossList: [Setting<SignalModel>] = [
        .number(
            "pathLossExponent", \.pathLossExponent, in: 0.5...10,
            "Path-loss exponent where no survey tells another."),
        .number(
            "defaultPower", \.defaultPower, in: -127...20, unit: "dBm",
            "Signal strength at 1 m where neither the venue nor a survey tells another."),
        .number(
            "floorLoss", \.floorLoss, in: 0...100, unit: "dB", "Signal lost through one floor, where no survey tells."),
        .number(
            "heightDifference", \.heightDifference, in: 0...100, unit: "m",
            "Height difference between device and beacon, where unknown."),
        .number(
            "shadowing", \.shadowing, in: 0...50, unit: "dB",
            "Standard deviation of what a place adds to the path loss."),
        .number(
            "shadowingLength", \.shadowingLength, in: 0.01...1000, unit: "m",
            "Distance over which shadowing stays alike."),
        .number(
            "powerDeviation", \.powerDeviation, in: 0...50, unit: "dB",
            "Standard deviation of a beacon's power from its learned value."),
        .number(
            "surveyNoise", \.surveyNoise, in: 0...50, unit: "dB",
            "Standard deviation of a survey reading beyond fast fading."),
        .number(
            "fastFading", \.fastFading, in: 0...50, unit: "dB",
            "Standard deviation of one reading by fast fading and advertising channel."),
        .wholeNumber(
            "readingCap", \.readingCap, in: 1...1_000_000,
            "More readings than this at one place don't make the mean any better."),
        .number(
            "unsurveyedDeviation", \.unsurveyedDeviation, in: 0...50, unit: "dB",
            "Shadowing that remains where there is no survey."),
    ]

    private static let readingList: [Setting<SignalModel>] = [
        .number(
            "readingDeviation", \.readingDeviation, in: 0...50, unit: "dB",
            "Standard deviation of a mean reading from the table, where no survey tells."),
        .number(
            "unseenDeviation", \.unseenDeviation, in: 0...50, unit: "dB",
            "What comes on top after the survey: another body, orientation, people, doors."),
        .number(
            "degreesOfFreedom", \.degreesOfFreedom, in: 1...1e9,
            "Degrees of freedom of Student's t distribution of the readings."),
        .wholeNumber(
            "beaconLimit", \.beaconLimit, in: 0...1_000_000, better: .greater,
            "Only the RSSI of this many strongest beacons counts."),
        .wholeNumber(
            "readingLimit", \.readingLimit, in: 1...SignalModel.unlimited, better: .greater,
            "Of each beacon, only the newest this many readings count for a position."),
        .number(
            "correlationTime", \.correlationTime, in: 0.001...1e9, unit: "s",
            "Readings of one beacon closer in time than this share their shadowing."),
        .wholeNumber(
            "unsurveyedBeaconLimit", \.unsurveyedBeaconLimit, in: 0...1_000_000, better: .greater,
            "Only the RSSI of this many strongest beacons counts where there is no survey."),
        .number(
            "receiverWander", \.receiverWander, in: 0...10, unit: "dB",
            "How far the receiver's offset wanders within a second."),
        .number(
            "receiverCaution", \.receiverCaution, in: 0.1...100,
            "How much more than its variance a reading's error is taken for where the offset is learned."),
        .number(
            "bodyDeviation", \.bodyDeviation, in: 0...50, unit: "dB",
            "Standard deviation of what the body takes from beacons behind it, along each axis."),
        .number("bodyTime", \.bodyTime, in: 0.01...1000, unit: "s", "Time over which the body faces one way."),
        .number(
            "receiverOffsetDeviation", \.receiverOffsetDeviation, in: 0...50, unit: "dB",
            "Standard deviation of the receiver's offset from the one that the map was made with, if the survey tells no more."
        ),
    ]

    private static let rateList: [Setting<SignalModel>] = [
        .number(
            "rateLength", \.rateLength, in: 0.01...1000, unit: "m",
            "Distance over which detection rates are averaged, where no survey tells."),
        .number(
            "rateDurationCap", \.rateDurationCap, in: 0.01...86_400, unit: "s",
            "Longest listening time that a survey place counts with in detection rates."),
        .number(
            "ratePriorDetections", \.ratePriorDetections, in: 0.001...1_000_000,
            "The detection rate that path loss lets expect weighs as much as this many detections, where no survey tells."
        ),
        .number(
            "ratePrior", \.ratePrior, in: 0.001...86_400, unit: "s",
            "That expectation weighs no more than this much listening of the survey."),
        .number(
            "unheardRate", \.unheardRate, in: 1e-6...1000, unit: "1/s",
            "Detections of all beacons together assumed where the survey heard none and path loss is too high."),
        .number(
            "sensitivity", \.sensitivity, in: -127...20, unit: "dBm",
            "RSSI at which half of what a beacon sends is heard, where no survey tells."),
        .number(
            "sensitivityWidth", \.sensitivityWidth, in: 0.1...50, unit: "dB",
            "How gradually beacons cease to be heard around the sensitivity."),
        .number(
            "unsurveyedDetectionWeight", \.unsurveyedDetectionWeight, in: 0...100,
            "Share of the detection evidence that is believed where no survey tells; 0 leaves silence out there."),
        .number(
            "unsurveyedRate", \.unsurveyedRate, in: 1e-9...1_000, unit: "1/s",
            "Detections of all beacons together where path loss expects none, where no survey tells."),
        .number(
            "detectionWeight", \.detectionWeight, in: 0...10, "Share of the detection evidence that is believed."),
        .number(
            "supportWidth", \.supportWidth, in: 0.01...1000, unit: "m",
            "Width of the band around the survey's places within which people are expected, where these don't tell."),
        .number(
            "unsupportedShare", \.unsupportedShare, in: 1e-9...1,
            "How likely a place far from the survey is, against one on it, where its places don't tell."),
        .number(
            "pathShare", \.pathShare, in: 0...0.999,
            "How much people keep to the venue's paths: far from them it is as much less likely; 0 leaves them out."),
        .number(
            "pathWidth", \.pathWidth, in: 0.01...1000, unit: "m",
            "How far from a path people are still expected on it, as a standard deviation."),
    ]
}

extension Resampling {
    /// When and how particles are drawn anew, each setting once.
    package static let list: [Setting<Resampling>] = [
        .choice(
            "scheme", \.scheme, fromWorst: [.stratified, .systematic],
            "How the draws are spread over the particles' weights."),
        .number(
            "effectiveShare", \.effectiveShare, in: 0...1,
            "Particles are drawn anew when fewer than this share of them count; 0 means never."),
    ]
}

extension MotionModel {
    /// The numbers of the motion model, each once.
    package static let list: [Setting<MotionModel>] = [
        .flag(
            "usesSteps", \.usesSteps,
            "Whether whoever carries the device takes steps that its sensors feel; on wheels only the radio tells."),
        .number(
            "walkingSpeed", \.walkingSpeed, in: 0.01...100, unit: "m/s",
            "Standard deviation of a walker's velocity along each axis."),
        .number(
            "velocityTime", \.velocityTime, in: 0.01...86_400, unit: "s",
            "How long a walker keeps velocity and direction."),
        .number(
            "startRate", \.startRate, in: 0...1000, unit: "1/s", "Chance that somebody who stands begins to walk."),
        .number("stopRate", \.stopRate, in: 0...1000, unit: "1/s", "Chance that somebody who walks stops."),
        .number("turnRate", \.turnRate, in: 0...1000, unit: "1/s", "Chance that somebody who walks takes another way."),
        .number(
            "standingWander", \.standingWander, in: 0...100, unit: "m",
            "How far a standing device wanders within a second."),
        .number(
            "walkingWander", \.walkingWander, in: 0...100, unit: "m",
            "How far a walking device wanders within a second beside its velocity."),
        .number(
            "headingBias", \.headingBias, in: 0...180, unit: "°",
            "Standard deviation of the direction of walking from that of the device."),
        .number(
            "headingUnknown", \.headingUnknown, in: 0...1,
            "Share of devices held in some other way, whose direction tells nothing at first."),
        .number(
            "headingDrift", \.headingDrift, in: 0...180, unit: "°", "How far the direction drifts within a second."),
        .number(
            "stepTurn", \.stepTurn, in: 0...180, unit: "°", "Standard deviation of the direction of a single step."),
        .number(
            "stepScale", \.stepScale, in: 0...1,
            "Standard deviation of a walker's step length from the mean, as a share."),
        .number(
            "stepLength", \.stepLength, in: 0...1, "Standard deviation of the length of a single step, as a share."),
    ]
}
