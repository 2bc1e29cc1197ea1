import XCTest

final class EmptyTests: XCTestCase {}
