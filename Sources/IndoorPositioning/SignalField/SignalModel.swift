import CMath
import IndoorVocabulary
import VenueModel

/// The parameters of the measurement model.
///
/// The defaults were determined by cross-validation on the surveys of ten public data sets; none is tuned to one
/// building. Most parameters are expert settings: <doc:Configuration> lists their keys, which may change or go in any
/// release.
public struct SignalModel: Hashable, Sendable {
    /// The path-loss exponent without a survey.
    package var pathLossExponent = Expert.pathLossExponent
    /// The signal strength at 1 m in dBm, unless the venue or a survey specifies it.
    public var defaultPower = -62.0
    /// The signal loss through one floor in dB, without a survey.
    package var floorLoss = Expert.floorLoss
    /// The signal loss through one wall of the plan in dB, on the beacon's own map, without a survey.
    package var wallLoss = Expert.wallLoss
    /// The default height difference between device and beacon in metres.
    public var heightDifference = 0.5

    /// The standard deviation of the shadowing at a place, in dB.
    package var shadowing = Expert.shadowing
    /// The correlation distance of shadowing in metres.
    package var shadowingLength = Expert.shadowingLength
    /// Standard deviation of a beacon's power from its learned value, in dB.
    package var powerDeviation = Expert.powerDeviation
    /// Standard deviation of a survey reading in addition to fast fading, in dB.
    package var surveyNoise = Expert.surveyNoise
    /// Standard deviation of one reading due to fast fading and the advertising channel, in dB.
    ///
    /// With a survey, the engine uses 1.4 times this value: the errors that last are estimated apart from it.
    package var fastFading = Expert.fastFading
    /// The maximum number of readings at one place that improve their mean.
    package var readingCap = Expert.readingCap
    /// The remaining shadowing without a survey, in dB.
    package var unsurveyedDeviation = Expert.unsurveyedDeviation

    /// Standard deviation of a mean reading from the table, in dB, unless a survey determines it.
    package var readingDeviation = Expert.readingDeviation
    /// The additional deviation in dB after the survey, caused for example by another body or orientation, by people or
    /// by doors.
    package var unseenDeviation = Expert.unseenDeviation
    /// Degrees of freedom of Student's t distribution of the readings.
    package var degreesOfFreedom = Expert.degreesOfFreedom
    /// Number of strongest beacons whose RSSI is used, which bounds the time of an update.
    public var beaconLimit = 64
    /// The same number without a survey. Far beacons share the errors from unmapped walls, so many of them would
    /// outweigh the near beacons.
    package var unsurveyedBeaconLimit = Expert.unsurveyedBeaconLimit
    /// Number of newest readings of each beacon that a position uses. The default is unlimited: readings are used for 4
    /// s at most, and the mean of all of them is less noisy than the mean of the last twelve.
    public var readingLimit = SignalModel.unlimited
    /// The time in seconds within which readings of one beacon share their shadowing.
    package var correlationTime = Expert.correlationTime

    /// The distance in metres over which detection rates are averaged, without a survey.
    package var rateLength = Expert.rateLength
    /// Longest listening time, in seconds, that one surveyed place contributes to detection rates.
    package var rateDurationCap = Expert.rateDurationCap
    /// Weight of the detection rate that path loss predicts, as a number of surveyed detections, unless a survey
    /// determines it.
    package var ratePriorDetections = Expert.ratePriorDetections
    /// Upper bound of that weight, in seconds of listening.
    package var ratePrior = Expert.ratePrior
    /// Detections per second of all beacons together, assumed where the survey detected no beacon and path loss
    /// predicts none.
    package var unheardRate = Expert.unheardRate
    /// The RSSI in dBm at which the radio receives half of a beacon's advertisements, without a survey.
    package var sensitivity = Expert.sensitivity
    /// Width in dB of the transition around the sensitivity, as the scale of a logistic function.
    package var sensitivityWidth = Expert.sensitivityWidth
    /// The weight of the detection evidence without a survey; 0 ignores missing detections.
    package var unsurveyedDetectionWeight = Expert.unsurveyedDetectionWeight
    /// Detections per second of all beacons together, assumed without a survey where path loss predicts none.
    package var unsurveyedRate = Expert.unsurveyedRate
    /// The weight of the detection evidence.
    package var detectionWeight = Expert.detectionWeight

    /// Standard deviation in dB of the receiver's offset from the receiver of the radio map.
    package var receiverOffsetDeviation = Expert.receiverOffsetDeviation

    /// The drift of the receiver's offset per second, in dB.
    package var receiverWander = Expert.receiverWander
    /// Factor on a reading's error variance in the estimate of the receiver's offset; above 1 because successive
    /// readings share a part of their error.
    package var receiverCaution = Expert.receiverCaution
    /// Standard deviation of body shadowing along each axis, in dB, unless a survey determines it.
    package var bodyDeviation = Expert.bodyDeviation
    /// Time in seconds during which the body keeps its direction.
    package var bodyTime = Expert.bodyTime

    /// Width in metres of the band around the surveyed places in which people are expected, unless the survey
    /// determines it.
    package var supportWidth = Expert.supportWidth
    /// Prior weight of a point far from the survey, relative to a surveyed point, unless the survey determines it.
    package var unsupportedShare = Expert.unsupportedShare
    /// Degree to which people keep to the venue's paths, in [0, 0.999]: a point far from all paths has the weight
    /// `1 - pathShare` relative to a point on a path. 0 disables the path prior.
    public var pathShare = 0.0
    /// Standard deviation in metres of people's distance from a path.
    package var pathWidth = Expert.pathWidth

    /// A limit above the number of readings that any beacon sends within the window.
    static let unlimited = 1_000_000

    /// The maximum number of walls that attenuate a signal: through more walls, it arrives by corridors, doors and
    /// reflections.
    static let mostWalls: UInt8 = 8

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
        // The survey's readings contain the walls.
        model.wallLoss = 0
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
    package static let list: [Setting<SignalModel>] = publicList + expertList

    private static let publicList: [Setting<SignalModel>] = [
        .number(
            "defaultPower", \.defaultPower, in: -127...20, unit: "dBm",
            "The signal strength at 1 m, unless the venue or a survey specifies it."),
        .number(
            "heightDifference", \.heightDifference, in: 0...100, unit: "m",
            "The default height difference between device and beacon."),
        .wholeNumber(
            "beaconLimit", \.beaconLimit, in: 0...1_000_000, better: .greater,
            "The number of strongest beacons whose RSSI is used."),
        .wholeNumber(
            "readingLimit", \.readingLimit, in: 1...SignalModel.unlimited, better: .greater,
            "The number of newest readings of each beacon that are used for a position."),
        .number(
            "pathShare", \.pathShare, in: 0...0.999,
            "The reduction of the probability of places far from the venue's paths; 0 ignores the paths."),
    ]
}

extension SignalModel {
    /// Returns the path-loss exponent of beacons without their own exponent: from the survey, if there is one.
    func usualExponent(with radioMap: RadioMap?) -> Double { radioMap?.pathLossExponent ?? pathLossExponent }

    /// Returns the standard deviation of a mean reading in dB: from the survey, if the survey determines it.
    func readingDeviation(with radioMap: RadioMap?) -> Double { radioMap?.readingDeviation ?? readingDeviation }

    /// Returns the model with the values that take effect in a venue. Values from the venue's data replace configured
    /// ones, and a value that nothing reads is set to its default.
    ///
    /// Two models with the same result give the same positions.
    package func inEffect(in venue: Venue) -> SignalModel {
        var model = fitted(to: venue.radioMap)
        let standard = SignalModel()
        // Only `fitted(to:)` reads these values, and it has already run.
        model.unsurveyedBeaconLimit = standard.unsurveyedBeaconLimit
        model.unsurveyedRate = standard.unsurveyedRate
        model.unsurveyedDetectionWeight = standard.unsurveyedDetectionWeight
        model.readingDeviation = readingDeviation(with: venue.radioMap)
        if let radioMap = venue.radioMap, !radioMap.beacons.isEmpty {
            model.unsurveyedDeviation = standard.unsurveyedDeviation
            // The configured exponent also determines how much an inexact place changes a reading; keep it if the
            // survey has inexact places.
            if radioMap.fingerprints.allSatisfy({ $0.deviation == 0 }) {
                model.pathLossExponent = usualExponent(with: radioMap)
            }
        }
        if venue.maps.allSatisfy(\.walls.isEmpty) { model.wallLoss = standard.wallLoss }
        if venue.paths == nil { model.pathShare = 0 }
        if model.pathShare == 0 { model.pathWidth = standard.pathWidth }
        return model
    }
}
