import IndoorVocabulary

/// The parameters of the measurement model that were chosen by measurement.
extension SignalModel {
    /// The defaults. `expertList` names the unit of each, and what chose it.
    enum Expert {
        static let pathLossExponent = 2.4
        static let floorLoss = 15.0
        static let wallLoss = 0.0
        static let shadowing = 4.0
        static let shadowingLength = 8.0
        static let powerDeviation = 5.0
        static let surveyNoise = 1.5
        static let fastFading = 2.5
        static let readingCap = 10
        static let unsurveyedDeviation = 5.0
        static let readingDeviation = 3.0
        static let unseenDeviation = 2.0
        static let degreesOfFreedom = 16.0
        static let correlationTime = 1.0
        static let unsurveyedBeaconLimit = 16
        static let receiverWander = 0.1
        static let receiverCaution = 1.0
        static let bodyDeviation = 2.0
        static let bodyTime = 6.0
        static let receiverOffsetDeviation = 9.0
        static let rateLength = 1.5
        static let rateDurationCap = 4.0
        static let ratePriorDetections = 0.1
        static let ratePrior = 2.0
        static let unheardRate = 0.05
        static let sensitivity = -85.0
        static let sensitivityWidth = 4.0
        static let unsurveyedDetectionWeight = 0.5
        static let unsurveyedRate = 0.4
        static let detectionWeight = 1.0
        static let supportWidth = 2.0
        static let unsupportedShare = 0.02
        static let pathWidth = 1.5
    }

    /// The expert settings.
    package static let expertList: [Setting<SignalModel>] =
        pathLossExperts + readingExperts + rateExperts + priorExperts

    private static let pathLossExperts: [Setting<SignalModel>] = [
        .number(
            "pathLossExponent", \.pathLossExponent, in: 0.5...10,
            "The path-loss exponent without a survey."
        ).expert(.surveys),
        .number(
            "floorLoss", \.floorLoss, in: 0...100, unit: "dB", "The signal loss through one floor without a survey."
        ).expert(.surveys),
        .number(
            "wallLoss", \.wallLoss, in: 0...40, unit: "dB",
            "The signal loss through one wall of the plan without a survey."
        ).expert(.surveys),
        .number(
            "shadowing", \.shadowing, in: 0...50, unit: "dB",
            "The standard deviation of the shadowing at a place."
        ).expert(.surveys),
        .number(
            "shadowingLength", \.shadowingLength, in: 0.01...1000, unit: "m",
            "The correlation distance of shadowing."
        ).expert(.surveys),
        .number(
            "powerDeviation", \.powerDeviation, in: 0...50, unit: "dB",
            "The standard deviation of a beacon's power from its learned value."
        ).expert(.surveys),
        .number(
            "surveyNoise", \.surveyNoise, in: 0...50, unit: "dB",
            "The standard deviation of a survey reading beyond fast fading."
        ).expert(.surveys),
        .number(
            "fastFading", \.fastFading, in: 0...50, unit: "dB",
            "The standard deviation of one reading by fast fading and advertising channel; 1.4 times this value with a survey."
        ).expert(.surveys),
        .wholeNumber(
            "readingCap", \.readingCap, in: 1...1_000_000,
            "The maximum number of readings at one place that improve their mean."
        ).expert(.surveys),
        .number(
            "unsurveyedDeviation", \.unsurveyedDeviation, in: 0...50, unit: "dB",
            "The remaining shadowing without a survey."
        ).expert(.surveys),
    ]

    private static let readingExperts: [Setting<SignalModel>] = [
        .number(
            "readingDeviation", \.readingDeviation, in: 0...50, unit: "dB",
            "The standard deviation of a mean reading from the table, without a survey."
        ).expert(.surveys),
        .number(
            "unseenDeviation", \.unseenDeviation, in: 0...50, unit: "dB",
            "The additional deviation after the survey, such as by another body, orientation, people or doors."
        ).expert(.surveys),
        .number(
            "degreesOfFreedom", \.degreesOfFreedom, in: 1...1e9,
            "The degrees of freedom of Student's t distribution of the readings."
        ).expert(.surveys),
        .number(
            "correlationTime", \.correlationTime, in: 0.001...1e9, unit: "s",
            "The time within which readings of one beacon share their shadowing."
        ).expert(.surveys),
        .wholeNumber(
            "unsurveyedBeaconLimit", \.unsurveyedBeaconLimit, in: 0...1_000_000, better: .greater,
            "The number of strongest beacons whose RSSI is used without a survey."
        ).expert(.surveys),
        .number(
            "receiverWander", \.receiverWander, in: 0...10, unit: "dB",
            "The drift of the receiver's offset per second."
        ).expert(.surveys),
        .number(
            "receiverCaution", \.receiverCaution, in: 0.1...100,
            "The factor of a reading's variance in the estimate of the receiver's offset."
        ).expert(.surveys),
        .number(
            "bodyDeviation", \.bodyDeviation, in: 0...50, unit: "dB",
            "The standard deviation along each axis of the attenuation by the body, without a survey."
        ).expert(.surveys),
        .number("bodyTime", \.bodyTime, in: 0.01...1000, unit: "s", "The correlation time of the body's orientation.")
            .expert(.surveys),
        .number(
            "receiverOffsetDeviation", \.receiverOffsetDeviation, in: 0...50, unit: "dB",
            "The standard deviation of the receiver's offset, unless the survey specifies a larger one."
        ).expert(.surveys),
    ]

    private static let rateExperts: [Setting<SignalModel>] = [
        .number(
            "rateLength", \.rateLength, in: 0.01...1000, unit: "m",
            "The distance over which detection rates are averaged, without a survey."
        ).expert(.surveys),
        .number(
            "rateDurationCap", \.rateDurationCap, in: 0.01...86_400, unit: "s",
            "The maximum scanning time of a survey place that is used for detection rates."
        ).expert(.surveys),
        .number(
            "ratePriorDetections", \.ratePriorDetections, in: 0.001...1_000_000,
            "The weight, in detections, of the detection rate predicted by path loss, without a survey."
        ).expert(.surveys),
        .number(
            "ratePrior", \.ratePrior, in: 0.001...86_400, unit: "s",
            "The maximum weight of the predicted detection rate, as scanning time of the survey."
        ).expert(.surveys),
        .number(
            "unheardRate", \.unheardRate, in: 1e-6...1000, unit: "1/s",
            "The detection rate of all beacons together in cells without survey detections and with a high path loss."
        ).expert(.surveys),
        .number(
            "sensitivity", \.sensitivity, in: -127...20, unit: "dBm",
            "The RSSI at which the radio receives half of a beacon's advertisements, without a survey."
        ).expert(.surveys),
        .number(
            "sensitivityWidth", \.sensitivityWidth, in: 0.1...50, unit: "dB",
            "The width of the transition around the sensitivity, as the scale of a logistic function."
        ).expert(.surveys),
        .number(
            "unsurveyedDetectionWeight", \.unsurveyedDetectionWeight, in: 0...100,
            "The weight of the detection evidence without a survey; 0 ignores missing detections."
        ).expert(.surveys),
        .number(
            "unsurveyedRate", \.unsurveyedRate, in: 1e-9...1_000, unit: "1/s",
            "The detection rate of all beacons together in cells where path loss predicts none, without a survey."
        ).expert(.surveys),
        .number(
            "detectionWeight", \.detectionWeight, in: 0...10, "The weight of the detection evidence."
        ).expert(.surveys),
    ]

    private static let priorExperts: [Setting<SignalModel>] = [
        .number(
            "supportWidth", \.supportWidth, in: 0.01...1000, unit: "m",
            "The width of the band around the survey places within which people are expected."
        ).expert(.surveys),
        .number(
            "unsupportedShare", \.unsupportedShare, in: 1e-9...1,
            "The relative probability of a place far from the survey, unless the survey specifies it."
        ).expert(.surveys),
        .number(
            "pathWidth", \.pathWidth, in: 0.01...1000, unit: "m",
            "The standard deviation of the distance from a path at which people are expected."
        ).expert(.estimate),
    ]
}
