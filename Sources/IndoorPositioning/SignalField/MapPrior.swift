import IndoorVocabulary

/// A prior probability of people's positions in a venue.
///
/// The engine evaluates the prior once for each cell of a map's grid. `PositioningSettings.priorShare` sets its weight
/// per second. `SurveyPrior` is the standard prior; `PathPrior` concentrates on paths.
public protocol MapPrior: Sendable {
    /// Returns the weight of a point relative to the most probable point of the map, in (0, 1].
    ///
    /// The engine treats a weight below 1e-30 and NaN as 1e-30, and a weight above 1 as 1.
    ///
    /// - Parameters:
    ///   - point: a point in metres.
    ///   - mapID: the map of the point.
    func weight(at point: MapPoint, on mapID: MapID) -> Double
}

extension MapPrior {
    /// Returns the product of this prior and another one.
    public func multiplied(by other: some MapPrior) -> ProductPrior { ProductPrior(of: [self, other]) }
}

/// A prior that computes the weights of a grid faster than cell by cell.
protocol TabulatedPrior: MapPrior {
    /// Returns the weight of each cell.
    func weights(on mapID: MapID, grid: MapGrid) -> [Float]
}

extension MapPrior {
    /// Returns the weight of each cell of a grid.
    func makeWeights(on mapID: MapID, grid: MapGrid) -> [Float] {
        let weights =
            (self as? any TabulatedPrior)?.weights(on: mapID, grid: grid)
            ?? (0..<grid.count).map { Float(weight(at: grid.center(of: $0), on: mapID)) }
        // The engine takes the logarithm of the weights.
        return weights.map { $0 > 1e-30 ? min($0, 1) : 1e-30 }
    }
}

/// The product of several priors.
public struct ProductPrior: MapPrior, TabulatedPrior {
    private let factors: [any MapPrior]

    /// Creates the product; without factors, every point has the weight 1.
    public init(of factors: [any MapPrior]) { self.factors = factors }

    /// Returns the product of the factors' weights.
    public func weight(at point: MapPoint, on mapID: MapID) -> Double {
        factors.reduce(1) { $0 * $1.weight(at: point, on: mapID) }
    }

    func weights(on mapID: MapID, grid: MapGrid) -> [Float] {
        guard let first = factors.first else { return Array(repeating: 1, count: grid.count) }
        return factors.dropFirst().reduce(first.makeWeights(on: mapID, grid: grid)) { product, factor in
            zip(product, factor.makeWeights(on: mapID, grid: grid)).map { $0 * $1 }
        }
    }
}
