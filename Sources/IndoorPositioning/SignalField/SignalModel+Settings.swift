import IndoorVocabulary

extension SignalModel {
    /// The settings of the measurement model.
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
