import CMath
import IndoorVocabulary
import VenueModel

/// The parameters of the measurement model.
///
/// The defaults were determined by cross-validation on the surveys of ten public data sets; none is tuned to one
/// building.
public struct SignalModel: Hashable, Sendable {
    /// The path-loss exponent without a survey.
    public var pathLossExponent = 2.4
    /// The signal strength at 1 m in dBm, unless the venue or a survey specifies it.
    public var defaultPower = -62.0
    /// The signal loss through one floor in dB, without a survey.
    public var floorLoss = 15.0
    /// The default height difference between device and beacon in metres.
    public var heightDifference = 0.5

    /// The standard deviation of the shadowing at a place, in dB.
    public var shadowing = 4.0
    /// The correlation distance of shadowing in metres.
    public var shadowingLength = 8.0
    /// Standard deviation of a beacon's power from its learned value, in dB.
    public var powerDeviation = 5.0
    /// Standard deviation of a survey reading in addition to fast fading, in dB.
    public var surveyNoise = 1.5
    /// Standard deviation of one reading due to fast fading and the advertising channel, in dB.
    ///
    /// With a survey, the engine uses 1.4 times this value: the errors that last are estimated apart from it.
    public var fastFading = 2.5
    /// The maximum number of readings at one place that improve their mean.
    public var readingCap = 10
    /// The remaining shadowing without a survey, in dB.
    public var unsurveyedDeviation = 5.0

    /// Standard deviation of a mean reading from the table, in dB, unless a survey determines it.
    public var readingDeviation = 3.0
    /// The additional deviation in dB after the survey, caused for example by another body or orientation, by people or
    /// by doors.
    public var unseenDeviation = 2.0
    /// Degrees of freedom of Student's t distribution of the readings.
    public var degreesOfFreedom = 16.0
    /// Number of strongest beacons whose RSSI is used, which bounds the time of an update.
    public var beaconLimit = 64
    /// The same number without a survey. Far beacons share the errors from unmapped walls, so many of them would
    /// outweigh the near beacons.
    public var unsurveyedBeaconLimit = 16
    /// Number of newest readings of each beacon that a position uses. The default is unlimited: readings are used for 4
    /// s at most, and the mean of all of them is less noisy than the mean of the last twelve.
    public var readingLimit = SignalModel.unlimited
    /// The time in seconds within which readings of one beacon share their shadowing.
    public var correlationTime = 1.0

    /// The distance in metres over which detection rates are averaged, without a survey.
    public var rateLength = 1.5
    /// Longest listening time, in seconds, that one surveyed place contributes to detection rates.
    public var rateDurationCap = 4.0
    /// Weight of the detection rate that path loss predicts, as a number of surveyed detections, unless a survey
    /// determines it.
    public var ratePriorDetections = 0.1
    /// Upper bound of that weight, in seconds of listening.
    public var ratePrior = 2.0
    /// Detections per second of all beacons together, assumed where the survey detected no beacon and path loss
    /// predicts none.
    public var unheardRate = 0.05
    /// The RSSI in dBm at which the radio receives half of a beacon's advertisements, without a survey.
    public var sensitivity = -85.0
    /// Width in dB of the transition around the sensitivity, as the scale of a logistic function.
    public var sensitivityWidth = 4.0
    /// The weight of the detection evidence without a survey; 0 ignores missing detections.
    public var unsurveyedDetectionWeight = 0.5
    /// Detections per second of all beacons together, assumed without a survey where path loss predicts none.
    public var unsurveyedRate = 0.4
    /// The weight of the detection evidence.
    public var detectionWeight = 1.0

    /// Standard deviation in dB of the receiver's offset from the receiver of the radio map.
    public var receiverOffsetDeviation = 9.0

    /// The drift of the receiver's offset per second, in dB.
    public var receiverWander = 0.1
    /// Factor on a reading's error variance in the estimate of the receiver's offset; above 1 because successive
    /// readings share a part of their error.
    public var receiverCaution = 1.0
    /// Standard deviation of body shadowing along each axis, in dB, unless a survey determines it.
    public var bodyDeviation = 2.0
    /// Time in seconds during which the body keeps its direction.
    public var bodyTime = 6.0

    /// Width in metres of the band around the surveyed places in which people are expected, unless the survey
    /// determines it.
    public var supportWidth = 2.0
    /// Prior weight of a point far from the survey, relative to a surveyed point, unless the survey determines it.
    public var unsupportedShare = 0.02
    /// Degree to which people keep to the venue's paths, in [0, 0.999]: a point far from all paths has the weight
    /// `1 - pathShare` relative to a point on a path. 0 disables the path prior.
    public var pathShare = 0.0
    /// Standard deviation in metres of people's distance from a path.
    public var pathWidth = 1.5

    /// A limit above the number of readings that any beacon sends within the window.
    static let unlimited = 1_000_000

    /// The factor on `fastFading` with a survey.
    static let surveyedFading = 1.4

    /// Creates the model with its default parameters.
    public init() {}

    /// Returns the model with the parameters that a venue's survey determines, or with those for a venue without a
    /// survey. Call it on a configured model, not on its own result.
    func fitted(to radioMap: RadioMap?) -> SignalModel {
        var model = self
        guard let fit = radioMap?.fit else {
            model.beaconLimit = min(beaconLimit, unsurveyedBeaconLimit)
            model.unheardRate = unsurveyedRate
            model.detectionWeight = unsurveyedDetectionWeight
            return model
        }
        model.fastFading = Self.surveyedFading * fastFading
        model.floorLoss = fit.floorLoss ?? floorLoss
        model.rateLength = fit.rateLength ?? rateLength
        model.ratePriorDetections = fit.ratePriorDetections ?? ratePriorDetections
        model.supportWidth = fit.supportWidth ?? supportWidth
        model.unsupportedShare = fit.unsupportedShare ?? unsupportedShare
        model.bodyDeviation = fit.bodyDeviation ?? bodyDeviation
        if let coverage = fit.coverage {
            // Outside the survey, a missing detection carries no more information than without a survey.
            let rest = 1 - coverage
            model.detectionWeight = coverage * detectionWeight + rest * min(detectionWeight, unsurveyedDetectionWeight)
            model.unheardRate = coverage * unheardRate + rest * max(unheardRate, unsurveyedRate)
        }
        // The value 0 means that the receiver is the survey's receiver.
        if receiverOffsetDeviation > 0 {
            model.receiverOffsetDeviation = max(receiverOffsetDeviation, fit.receiverDeviation ?? 0)
        }
        return model
    }

    /// Returns the detections per second of one of `count` beacons where it is not expected. The total rate is fixed:
    /// each beacon of a venue with many beacons gets a smaller share.
    func unheardRate(of count: Int) -> Double { unheardRate / Double(max(1, count)) }

    /// Returns the correlation of shadowing at two points `distance` metres apart: Matérn with ν = 3/2.
    ///
    /// Source: C. E. Rasmussen, C. K. I. Williams, *Gaussian Processes for Machine Learning*, 2006, eq. 4.17.
    func shadowingCorrelation(distance: Double) -> Double {
        let scaled = 1.732_050_807_568_877_2 * distance / shadowingLength
        return (1 + scaled) * cmath_exp(-scaled)
    }

    /// Returns the variance in dB² of a mean of `count` survey readings about the signal field, if the place has a
    /// standard deviation of `deviation` metres along each axis.
    ///
    /// An error of the place causes an error of the reading that is proportional to the slope of the field. The slope
    /// has two parts: shadowing, and path loss at the shadowing length. Source: A. McHutchon, C. E. Rasmussen,
    /// *Gaussian Process Training with Input Noise*, NIPS 2011.
    func surveyVariance(count: Int, deviation: Double = 0) -> Double {
        let reading = surveyNoise * surveyNoise + fastFading * fastFading / Double(min(max(count, 1), readingCap))
        guard deviation > 0 else { return reading }
        let fall = 4.343 * pathLossExponent / shadowingLength
        let slope = 3 * shadowing * shadowing / (shadowingLength * shadowingLength) + fall * fall
        return reading + slope * deviation * deviation
    }

    /// Returns the RSSI in dBm that path loss predicts for a beacon at a point of the beacon's map.
    func expectedRSSI(of beacon: RadioMap.Beacon, exponent: Double, at point: MapPoint) -> Double {
        pathLoss(
            power: beacon.power, exponent: exponent, planar: point.distance(to: beacon.point), height: heightDifference)
    }

    /// Returns the mean RSSI in dBm of a beacon with `power` at 1 m, at a horizontal distance of `planar` metres.
    func pathLoss(power: Double, exponent: Double, planar: Double, height: Double) -> Double {
        power - 5 * exponent * cmath_log10(planar * planar + height * height)
    }
}

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
            "The standard deviation of one reading by fast fading and advertising channel; 1.4 times this value with a survey."
        ),
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
