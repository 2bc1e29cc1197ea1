import IndoorVocabulary

extension SignalModel {
    /// The settings of the measurement model.
    package static let list: [Setting<SignalModel>] = pathLossList + readingList + rateList

    private static let pathLossList: [Setting<SignalModel>] = [
        .number(
            "pathLossExponent", \.pathLossExponent, in: 0.5...10,
            "The path-loss exponent without a survey."),
        .number(
            "defaultPower", \.defaultPower, in: -127...20, unit: "dBm",
            "The signal strength at 1 m, unless the venue or a survey specifies it."),
        .number(
            "floorLoss", \.floorLoss, in: 0...100, unit: "dB", "The signal loss through one floor without a survey."),
        .number(
            "heightDifference", \.heightDifference, in: 0...100, unit: "m",
            "The default height difference between device and beacon."),
        .number(
            "shadowing", \.shadowing, in: 0...50, unit: "dB",
            "The standard deviation of the shadowing at a place."),
        .number(
            "shadowingLength", \.shadowingLength, in: 0.01...1000, unit: "m",
            "The correlation distance of shadowing."),
        .number(
            "powerDeviation", \.powerDeviation, in: 0...50, unit: "dB",
            "The standard deviation of a beacon's power from its learned value."),
        .number(
            "surveyNoise", \.surveyNoise, in: 0...50, unit: "dB",
            "The standard deviation of a survey reading beyond fast fading."),
        .number(
            "fastFading", \.fastFading, in: 0...50, unit: "dB",
            "The standard deviation of one reading by fast fading and advertising channel."),
        .wholeNumber(
            "readingCap", \.readingCap, in: 1...1_000_000,
            "The maximum number of readings at one place that improve their mean."),
        .number(
            "unsurveyedDeviation", \.unsurveyedDeviation, in: 0...50, unit: "dB",
            "The remaining shadowing without a survey."),
    ]

    private static let readingList: [Setting<SignalModel>] = [
        .number(
            "readingDeviation", \.readingDeviation, in: 0...50, unit: "dB",
            "The standard deviation of a mean reading from the table, without a survey."),
        .number(
            "unseenDeviation", \.unseenDeviation, in: 0...50, unit: "dB",
            "The additional deviation after the survey, such as by another body, orientation, people or doors."),
        .number(
            "degreesOfFreedom", \.degreesOfFreedom, in: 1...1e9,
            "The degrees of freedom of Student's t distribution of the readings."),
        .wholeNumber(
            "beaconLimit", \.beaconLimit, in: 0...1_000_000, better: .greater,
            "The number of strongest beacons whose RSSI is used."),
        .wholeNumber(
            "readingLimit", \.readingLimit, in: 1...SignalModel.unlimited, better: .greater,
            "The number of newest readings of each beacon that are used for a position."),
        .number(
            "correlationTime", \.correlationTime, in: 0.001...1e9, unit: "s",
            "The time within which readings of one beacon share their shadowing."),
        .wholeNumber(
            "unsurveyedBeaconLimit", \.unsurveyedBeaconLimit, in: 0...1_000_000, better: .greater,
            "The number of strongest beacons whose RSSI is used without a survey."),
        .number(
            "receiverWander", \.receiverWander, in: 0...10, unit: "dB",
            "The drift of the receiver's offset per second."),
        .number(
            "receiverCaution", \.receiverCaution, in: 0.1...100,
            "The factor of a reading's variance in the estimate of the receiver's offset."),
        .number(
            "bodyDeviation", \.bodyDeviation, in: 0...50, unit: "dB",
            "The standard deviation along each axis of the attenuation by the body, without a survey."),
        .number("bodyTime", \.bodyTime, in: 0.01...1000, unit: "s", "The correlation time of the body's orientation."),
        .number(
            "receiverOffsetDeviation", \.receiverOffsetDeviation, in: 0...50, unit: "dB",
            "The standard deviation of the receiver's offset, unless the survey specifies a larger one."
        ),
    ]

    private static let rateList: [Setting<SignalModel>] = [
        .number(
            "rateLength", \.rateLength, in: 0.01...1000, unit: "m",
            "The distance over which detection rates are averaged, without a survey."),
        .number(
            "rateDurationCap", \.rateDurationCap, in: 0.01...86_400, unit: "s",
            "The maximum scanning time of a survey place that is used for detection rates."),
        .number(
            "ratePriorDetections", \.ratePriorDetections, in: 0.001...1_000_000,
            "The weight, in detections, of the detection rate predicted by path loss, without a survey."
        ),
        .number(
            "ratePrior", \.ratePrior, in: 0.001...86_400, unit: "s",
            "The maximum weight of the predicted detection rate, as scanning time of the survey."),
        .number(
            "unheardRate", \.unheardRate, in: 1e-6...1000, unit: "1/s",
            "The detection rate of all beacons together in cells without survey detections and with a high path loss."),
        .number(
            "sensitivity", \.sensitivity, in: -127...20, unit: "dBm",
            "The RSSI at which the radio receives half of a beacon's advertisements, without a survey."),
        .number(
            "sensitivityWidth", \.sensitivityWidth, in: 0.1...50, unit: "dB",
            "The width of the transition around the sensitivity, as the scale of a logistic function."),
        .number(
            "unsurveyedDetectionWeight", \.unsurveyedDetectionWeight, in: 0...100,
            "The weight of the detection evidence without a survey; 0 ignores missing detections."),
        .number(
            "unsurveyedRate", \.unsurveyedRate, in: 1e-9...1_000, unit: "1/s",
            "The detection rate of all beacons together in cells where path loss predicts none, without a survey."),
        .number(
            "detectionWeight", \.detectionWeight, in: 0...10, "The weight of the detection evidence."),
        .number(
            "supportWidth", \.supportWidth, in: 0.01...1000, unit: "m",
            "The width of the band around the survey places within which people are expected."),
        .number(
            "unsupportedShare", \.unsupportedShare, in: 1e-9...1,
            "The relative probability of a place far from the survey, unless the survey specifies it."),
        .number(
            "pathShare", \.pathShare, in: 0...0.999,
            "The reduction of the probability of places far from the venue's paths; 0 ignores the paths."),
        .number(
            "pathWidth", \.pathWidth, in: 0.01...1000, unit: "m",
            "The standard deviation of the distance from a path at which people are expected."),
    ]
}
