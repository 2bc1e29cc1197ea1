import VenueModel

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
        if venue.paths == nil { model.pathShare = 0 }
        if model.pathShare == 0 { model.pathWidth = standard.pathWidth }
        return model
    }
}
